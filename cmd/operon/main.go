// Command operon runs, and helps to write, Kubernetes operators. It is one binary with a verb for each task; called by the
// name kubectl it is kubectl.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-dev/operon/cmd/operon/cluster"
	"github.com/operon-dev/operon/cmd/operon/deploy"
	"github.com/operon-dev/operon/cmd/operon/image"
	"github.com/operon-dev/operon/cmd/operon/kubectl"
	"github.com/operon-dev/operon/cmd/operon/kubeversion"
	"github.com/operon-dev/operon/cmd/operon/kustomize"
)

func main() {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	args := os.Args[1:]
	if name == "operon" && len(args) > 0 {
		name, args = args[0], args[1:]
	}
	err := error(nil)
	switch name {
	case "kubectl":
		kubectl.Run(args)
	case "kustomize":
		err = kustomize.Run(context.Background(), args)
	default:
		err = newCommand().ExecuteContext(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "operon:", err)
		os.Exit(1)
	}
}

const examples = `  # A Kubernetes control plane, without a container in sight
  operon cluster

  # kubectl, of the same version
  operon kubectl get pods --all-namespaces`

func newCommand() *cobra.Command {
	// cobra takes over the flags that Kubernetes' packages declare for the process.
	pflag.CommandLine = pflag.NewFlagSet("operon", pflag.ContinueOnError)
	cmd := &cobra.Command{
		Use:           "operon",
		Short:         "Write, run and test Kubernetes operators",
		Version:       version(),
		Example:       examples,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%q is not a command of operon: operon --help lists them", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: %s --help lists the flags", err, cmd.CommandPath())
	})
	cmd.CompletionOptions.HiddenDefaultCmd = true
	cmd.AddCommand(
		cluster.NewCommand(),
		&cobra.Command{
			Use:   "kubectl",
			Short: "kubectl " + kubeversion.Version,
			// main hands kubectl its arguments before they get here.
			DisableFlagParsing: true,
			Run:                func(_ *cobra.Command, args []string) { kubectl.Run(args) },
		},
		&cobra.Command{
			Use:                "kustomize",
			Short:              "kustomize, of the version that kubectl has built in",
			DisableFlagParsing: true,
			RunE:               func(cmd *cobra.Command, args []string) error { return kustomize.Run(cmd.Context(), args) },
		},
		&cobra.Command{
			Use:   "version",
			Short: "Print the versions of operon and of its Kubernetes",
			Args:  cobra.NoArgs,
			Run: func(cmd *cobra.Command, _ []string) {
				fmt.Fprintf(cmd.OutOrStdout(), "operon %s\nkubernetes %s\n", version(), kubeversion.Version)
			},
		},
	)
	cmd.AddCommand(deploy.NewCommands()...)
	cmd.AddCommand(image.NewBuildCommand(), image.NewPushCommand())
	return cmd
}

// version is the module's version where the binary was installed by version, and the commit where it was built in a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel " + s.Value[:12]
		}
	}
	return "devel"
}
