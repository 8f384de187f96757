// Package scripttest is what the script tests of the verbs that work on a project have in common: the environment of a script and commands
// beside those of package testscript.
//
//   - commit has git commit all files below the current directory.
//   - refused WORDS ARGS... demands that "operon ARGS" refuses properly: see [Refused].
//   - snapshot remembers the files below the current directory, and same demands that they are as they were then.
//
// The files of git are not among those that are compared.
package scripttest

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// Commands are this package's and others, which a test has for itself.
func Commands(others map[string]func(*testscript.TestScript, bool, []string)) map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){
		"commit":  commit,
		"refused": Refused,
		"snapshot": func(ts *testscript.TestScript, _ bool, _ []string) {
			ts.Value(remembered{}).(*snapshot).files = Tree(ts)
		},
		"same": func(ts *testscript.TestScript, _ bool, _ []string) {
			unchanged(ts, ts.Value(remembered{}).(*snapshot).files)
		},
	}
	maps.Copy(all, others)
	return all
}

// remembered is the key of a script's snapshot.
type remembered struct{}

// A snapshot is the files of a script at one time.
type snapshot struct{ files map[string]string }

// Setup gives a script an empty home, Go's caches where they always are, and an author to commit as. Workspaces are off, and no Go is downloaded.
func Setup(env *testscript.Env) error {
	env.Values[remembered{}] = &snapshot{}
	names := []string{"GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	values := strings.Split(string(out), "\n")
	for i, name := range names {
		env.Setenv(name, values[i])
	}
	for name, value := range map[string]string{
		"CGO_ENABLED": "0", "GOPATH": filepath.Join(env.WorkDir, "gopath"), "GOTOOLCHAIN": "local", "GOWORK": "off",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": filepath.Dir(env.WorkDir),
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		env.Setenv(name, value)
	}
	return nil
}

func commit(ts *testscript.TestScript, _ bool, _ []string) {
	if _, err := os.Stat(ts.MkAbs(".git")); err != nil {
		ts.Check(ts.Exec("git", "init", "-q"))
	}
	ts.Check(ts.Exec("git", "add", "-A"))
	ts.Check(ts.Exec("git", "commit", "-q", "--allow-empty", "-m", "as it is"))
}

// Tree is the content of all files below the current directory of a script.
func Tree(ts *testscript.TestScript) map[string]string {
	root := ts.MkAbs(".")
	all := map[string]string{}
	ts.Check(fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(filepath.Join(root, path))
		all[path] = string(data)
		return err
	}))
	return all
}

func unchanged(ts *testscript.TestScript, before map[string]string) {
	if diff := cmp.Diff(before, Tree(ts)); diff != "" {
		ts.Fatalf("files differ (-before +after):\n%s", diff)
	}
}

// Refused is the rule for what cannot be done. Operon, with the arguments after the first:
//
//   - fails, and has changed no file;
//   - ends standard error with one sentence, which is the only line there that is its own: before it there may be the words of another
//     program, such as the compiler;
//   - has the first argument somewhere in what it says;
//   - says what to do, or what would be right, after a colon, a comma or a semicolon.
func Refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: refused WORDS ARGS...")
	}
	before := Tree(ts)
	if err := ts.Exec("operon", args[1:]...); err == nil {
		ts.Fatalf("operon %v succeeded", args[1:])
	}
	stderr := ts.ReadFile("stderr")
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	sentence, ok := strings.CutPrefix(lines[len(lines)-1], "operon: ")
	switch {
	case !ok || strings.Contains("\n"+strings.Join(lines[:len(lines)-1], "\n"), "\noperon: "):
		ts.Fatalf("standard error does not end with one sentence: %s", stderr)
	case !strings.ContainsAny(sentence, ":,;"):
		ts.Fatalf("the sentence has no way out: %s", sentence)
	case !strings.Contains(stderr, args[0]):
		ts.Fatalf("standard error does not say %q: %s", args[0], stderr)
	}
	unchanged(ts, before)
}
