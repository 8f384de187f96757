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
		{"install ", ""},
		{"completion ", "bash fish powershell zsh"},
		{"kubectl api-res", "api-resources"},
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
			// 4: no files beside it.
			if directive := lines[len(lines)-1]; directive != ":4" {
				t.Errorf("directive %s", directive)
			}
		})
	}
}

// The script for bash is the one that is run here, where there is a bash: with a stand-in for what bash-completion does for it.
func TestBashCompletes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash to complete with")
	}
	script := `
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
`
	dir := completionProject(t)
	cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OPERON_COMPLETED="+binary, "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if words := strings.Fields(string(out)); err != nil || len(words) < 2 || words[0] != "webhook" || words[len(words)-1] != "Memcached" {
		t.Errorf("bash: %v, %q\n%s", err, out, stderr.String())
	}
}
