package scaffold

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/operon-dev/operon/cmd/operon/generate/cli"
	"github.com/operon-dev/operon/cmd/operon/scaffold/internal/scripttest"
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
			if err := scripttest.Setup(env); err != nil {
				return err
			}
			// The network is not asked, unless a script sets GOPROXY to PROXY for Go's own commands.
			env.Setenv("PROXY", env.Getenv("GOPROXY"))
			env.Setenv("GOPROXY", "off")
			if binary := os.Getenv("OPERON"); binary != "" {
				env.Setenv("PLANE", binary)
			}
			return nil
		},
		Cmds: scripttest.Commands(map[string]func(*testscript.TestScript, bool, []string){
			"files":     files,
			"kustomize": kustomize,
		}),
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

// files demands that the files below a directory are those that a file lists.
func files(ts *testscript.TestScript, _ bool, args []string) {
	var have []string
	for path := range scripttest.Tree(ts) {
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
