package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// completionProject is a directory with a project of two versions of a kind.
func completionProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "PROJECT"), `layout:
- go.kubebuilder.io/v4
domain: example.com
repo: example.com/p
resources:
- {group: cache, version: v1, kind: Memcached, domain: example.com}
- {group: cache, version: v1beta1, kind: Memcached, domain: example.com}
version: "3"
`)
	write(t, filepath.Join(dir, "kubeconfig"), "apiVersion: v1\nkind: Config\ncontexts:\n- {name: kind-one, context: {cluster: c}}\n- {name: two, context: {cluster: c}}\n")
	return dir
}

func TestShellsAreOfferedWhatFits(t *testing.T) {
	dir := completionProject(t)
	for _, tt := range []struct{ line, want string }{
		{"cre", "create"},
		{"create ", "api webhook"},
		{"create api --ki", "--kind"},
		{"create webhook --kind ", "Memcached"},
		{"create webhook --spoke ", "v1 v1beta1"},
		{"delete api --version ", "v1 v1beta1"},
		{"init --license ", "apache2 copyright none"},
		{"deploy -o ", "text json"},
		{"run --context ", "kind-one two"},
		{"build --platform ", "linux/amd64 linux/arm64"},
		{"build --platform linux/arm64,", "linux/arm64,linux/amd64"},
		{"create webhook --spoke v1,", "v1,v1beta1"},
		{"install ", ""},
		{"completion ", "bash fish powershell zsh"},
		{"kubectl api-res", "api-resources"},
		{"kustomize bui", "build"},
		{"setup-envtest use -p ", "overview path env"},
		{"deploy --con", "--container --context"},
	} {
		t.Run(tt.line, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), binary, append([]string{"__complete"}, strings.Split(tt.line, " ")...)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(dir, "kubeconfig"))
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			var offered []string
			for _, line := range lines[:len(lines)-1] {
				word, _, _ := strings.Cut(line, "\t")
				offered = append(offered, word)
			}
			if diff := cmp.Diff(strings.Fields(tt.want), offered); diff != "" && len(tt.want)+len(offered) > 0 {
				t.Errorf("-want +got\n%s", diff)
			}
			if strings.Contains(string(out), "`") {
				t.Errorf("the marks of a value's name are shown: %s", out)
			}
			// 4: no files beside it.
			if directive := lines[len(lines)-1]; directive != ":4" {
				t.Errorf("directive %s", directive)
			}
		})
	}
}

// The scripts for shells are run where there is such a shell: with stand-ins for what bash-completion and zsh's compsys do for them. Each
// prints what it offers, with what it says of that.
func TestShellsComplete(t *testing.T) {
	for shell, tt := range map[string]struct {
		args   []string
		script string
	}{
		"bash": {[]string{"--norc"}, `
_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}; }
compopt() { :; }
source <("$OPERON_COMPLETED" completion bash)
complete -p operon >/dev/null || exit 1
COMP_WORDS=(operon create web) COMP_CWORD=2 COMP_LINE="operon create web" COMP_POINT=17
__start_operon
echo "${COMPREPLY[@]}"
COMP_WORDS=(operon delete api --kind "") COMP_CWORD=4 COMP_LINE="operon delete api --kind " COMP_POINT=25
__start_operon
echo "${COMPREPLY[@]}"
`},
		"zsh": {[]string{"-f"}, `
compdef() { :; }
_describe() { print -rl -- $completions; }
eval "$("$OPERON_COMPLETED" completion zsh)"
words=(operon create web) CURRENT=3
_operon
words=(operon delete api --kind '') CURRENT=5
_operon
`},
		"fish": {[]string{"--no-config"}, `
"$OPERON_COMPLETED" completion fish | source
complete -C 'operon create web'
complete -C 'operon delete api --kind '
`},
	} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("no %s to complete with", shell)
			}
			dir := completionProject(t)
			bin := t.TempDir()
			if err := os.Symlink(binary, filepath.Join(bin, "operon")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), path, append(tt.args, "-c", tt.script)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "OPERON_COMPLETED="+binary, "HOME="+dir, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if words := strings.Fields(string(out)); err != nil || len(words) < 2 || !strings.HasPrefix(words[0], "webhook") || words[len(words)-1] != "Memcached" {
				t.Errorf("%v, %q\n%s", err, out, stderr.String())
			}
		})
	}
}
