package migrate

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

// TestMain lets scripts run the verb as the program "operon".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"operon": operon})
}

func operon() {
	cmd := &cobra.Command{Use: "operon", SilenceErrors: true, SilenceUsage: true}
	cmd.AddCommand(NewCommand())
	if err := cmd.ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "operon:", err)
		os.Exit(1)
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// The scripts' home is empty; Go's caches are where they always are.
			for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB"} {
				value, err := exec.Command("go", "env", name).Output()
				if err != nil {
					return err
				}
				env.Setenv(name, strings.TrimSpace(string(value)))
			}
			for name, value := range map[string]string{
				"CGO_ENABLED": "0", "GOPATH": filepath.Join(env.WorkDir, "gopath"), "GOTOOLCHAIN": "local",
				"GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": filepath.Dir(env.WorkDir), "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
			} {
				env.Setenv(name, value)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"refused": refused,
			"commit":  commit,
		},
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
	})
}

// commit commits all files below the current directory of a script.
func commit(ts *testscript.TestScript, _ bool, _ []string) {
	if _, err := os.Stat(ts.MkAbs(".git")); err != nil {
		ts.Check(ts.Exec("git", "init", "-q"))
	}
	ts.Check(ts.Exec("git", "add", "-A"))
	ts.Check(ts.Exec("git", "commit", "-q", "-m", "as it is"))
}

// tree is the content of all files below the current directory of a script, but for git's.
func tree(ts *testscript.TestScript) map[string]string {
	root := ts.MkAbs(".")
	all := map[string]string{}
	ts.Check(fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, path))
		all[path] = string(data)
		return err
	}))
	return all
}

// refused demands that operon, with the arguments after the first, says the first, fails and changes nothing.
func refused(ts *testscript.TestScript, _ bool, args []string) {
	before := tree(ts)
	err := ts.Exec("operon", args[1:]...)
	stderr := ts.ReadFile("stderr")
	switch {
	case err == nil:
		ts.Fatalf("operon %v succeeded", args[1:])
	case !strings.Contains(stderr, "operon: ") || !strings.Contains(stderr, args[0]):
		ts.Fatalf("standard error does not say %q: %s", args[0], stderr)
	}
	if diff := cmp.Diff(before, tree(ts)); diff != "" {
		ts.Fatalf("files changed (-before +after):\n%s", diff)
	}
}
