package scaffold

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
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/operon-dev/operon/cmd/operon/generate/cli"
)

// TestMain lets scripts run the verbs as the program "operon".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"operon": operon})
}

func operon() {
	if err := newRoot().ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "operon:", err)
		os.Exit(1)
	}
}

// newRoot is the command with the verbs of this package, and the generators that they call.
func newRoot() *cobra.Command {
	cmd := &cobra.Command{Use: "operon", SilenceErrors: true, SilenceUsage: true}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: %s --help lists the flags", err, cmd.CommandPath())
	})
	cmd.AddCommand(NewCommands()...)
	cmd.AddCommand(&cobra.Command{
		Use:                "controller-gen",
		DisableFlagParsing: true,
		Run:                func(_ *cobra.Command, args []string) { os.Exit(cli.Main(args, os.Stdout, os.Stderr)) },
	})
	return cmd
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// The scripts' home is empty; Go's caches are where they always are. The network is not asked, unless a script
			// sets GOPROXY to PROXY for Go's own commands.
			for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOPROXY"} {
				value, err := exec.Command("go", "env", name).Output()
				if err != nil {
					return err
				}
				env.Setenv(name, strings.TrimSpace(string(value)))
			}
			env.Setenv("PROXY", env.Getenv("GOPROXY"))
			env.Setenv("GOPROXY", "off")
			if binary := os.Getenv("OPERON"); binary != "" {
				env.Setenv("PLANE", binary)
			}
			env.Setenv("GOWORK", "off")
			env.Setenv("CGO_ENABLED", "0")
			env.Setenv("GOPATH", filepath.Join(env.WorkDir, "gopath"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"snapshot":  snapshot,
			"same":      same,
			"files":     files,
			"kustomize": kustomize,
			"refused":   refused,
		},
		Condition: func(condition string) (bool, error) {
			if condition == "plane" { // there is a binary to start control planes with
				return os.Getenv("OPERON") != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", condition)
		},
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
	})
}

// tree is the content of all files below the current directory of a script.
func tree(ts *testscript.TestScript) map[string]string {
	root := ts.MkAbs(".")
	all := map[string]string{}
	ts.Check(fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, path))
		all[path] = string(data)
		return err
	}))
	return all
}

var snapshots = map[*testscript.TestScript]map[string]string{}

// snapshot remembers the files below the current directory, for same.
func snapshot(ts *testscript.TestScript, _ bool, _ []string) { snapshots[ts] = tree(ts) }

// same demands that the files below the current directory are those of the last snapshot.
func same(ts *testscript.TestScript, _ bool, _ []string) {
	if diff := cmp.Diff(snapshots[ts], tree(ts)); diff != "" {
		ts.Fatalf("files differ (-snapshot +now):\n%s", diff)
	}
}

// files demands that the files below a directory are those that a file lists.
func files(ts *testscript.TestScript, _ bool, args []string) {
	var have []string
	for path := range tree(ts) {
		have = append(have, path)
	}
	want := strings.Fields(ts.ReadFile(args[0]))
	if diff := cmp.Diff(toSet(want), toSet(have)); diff != "" {
		ts.Fatalf("files (-want +got):\n%s", diff)
	}
}

func toSet(list []string) map[string]bool {
	set := map[string]bool{}
	for _, item := range list {
		set[item] = true
	}
	return set
}

// kustomize builds a kustomization and writes what comes of it into a file.
func kustomize(ts *testscript.TestScript, _ bool, args []string) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), ts.MkAbs(args[0]))
	ts.Check(err)
	text, err := resources.AsYaml()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o644))
}

// refused demands that operon, with the arguments after the first, says one sentence with the first in it, fails and changes nothing.
func refused(ts *testscript.TestScript, _ bool, args []string) {
	before := tree(ts)
	err := ts.Exec("operon", args[1:]...)
	stderr := ts.ReadFile("stderr")
	switch {
	case err == nil:
		ts.Fatalf("operon %v succeeded", args[1:])
	case !strings.HasPrefix(stderr, "operon: ") || strings.Count(stderr, "\n") != 1:
		ts.Fatalf("standard error is not one sentence: %s", stderr)
	case !strings.Contains(stderr, args[0]):
		ts.Fatalf("standard error does not say %q: %s", args[0], stderr)
	}
	if diff := cmp.Diff(before, tree(ts)); diff != "" {
		ts.Fatalf("files changed (-before +after):\n%s", diff)
	}
}
