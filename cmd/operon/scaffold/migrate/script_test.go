package migrate

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/scaffold/internal/scripttest"
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
		Dir:                 "testdata/script",
		Setup:               scripttest.Setup,
		Cmds:                scripttest.Commands(nil),
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
	})
}
