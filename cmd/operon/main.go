// Command operon runs, and helps to write, Kubernetes operators. It is one binary with a verb for each task; called by the
// name of a program that it stands in for, kubectl or kube-apiserver for example, it is that program.
//
// # Where to read
//
// Each group of verbs is a package, whose command.go has the flags and whose doc.go the nouns and guarantees: scaffold (init, create, delete, edit)
// with migrate and upgrade below it, generate/recipe (generate), devloop (run), cluster, deploy (install, deploy and their opposites), image
// (build, push) and setupenvtest. Package cmdline is what their command lines have in common. The programs that the binary stands in for are in
// kubectl, kustomize, standalone and generate/cli; generate/start runs the last of them, controller-gen, before main.
//
// Verbs that need one another start this binary again, as a process of its own: run starts cluster and controller-gen, generate starts
// controller-gen.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-dev/operon/cmd/operon/cluster"
	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/deploy"
	"github.com/operon-dev/operon/cmd/operon/devloop"
	"github.com/operon-dev/operon/cmd/operon/generate/admit"
	"github.com/operon-dev/operon/cmd/operon/generate/recipe"
	generators "github.com/operon-dev/operon/cmd/operon/generate/start" // runs controller-gen before Kubernetes initialises
	_ "github.com/operon-dev/operon/cmd/operon/generate/start/settle"   // and ends it before the API server does
	"github.com/operon-dev/operon/cmd/operon/image"
	"github.com/operon-dev/operon/cmd/operon/kubectl"
	"github.com/operon-dev/operon/cmd/operon/kubeversion"
	"github.com/operon-dev/operon/cmd/operon/kustomize"
	"github.com/operon-dev/operon/cmd/operon/scaffold"
	"github.com/operon-dev/operon/cmd/operon/scaffold/migrate"
	"github.com/operon-dev/operon/cmd/operon/scaffold/upgrade"
	"github.com/operon-dev/operon/cmd/operon/setupenvtest"
	"github.com/operon-dev/operon/cmd/operon/standalone"
)

func main() {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if name == "setup-envtest" { // from the place where a Makefile would have downloaded it to
		os.Args = append([]string{"operon", name}, os.Args[1:]...)
	}
	args := os.Args[1:]
	program := programs(name)
	if program == nil && len(args) > 0 {
		program, args = programs(args[0]), args[1:]
	}
	if program == nil {
		program = func([]string) error { return execute(newCommand()) }
	}
	if err := program(args); err != nil {
		fmt.Fprintln(os.Stderr, "operon:", err)
		os.Exit(1)
	}
}

// execute runs a verb of the command line.
func execute(cmd *cobra.Command) error {
	out := resultsOf(os.Stdout)
	if out != nil {
		cmd.SetOut(out)
	}
	return out.end(cmd.ExecuteContext(context.Background()))
}

// programs returns the field's program of that name that the binary stands in for, under its own name and as a verb; nil for a name
// that is none. It takes its arguments as they are, so that help and flags are the program's own.
func programs(name string) func(args []string) error {
	switch name {
	case "kubectl":
		return func(args []string) error {
			out := resultsOf(os.Stdout)
			kubectl.Run(args, out.writer())
			return out.end(nil)
		}
	case "controller-gen":
		return func(args []string) error { os.Exit(generators.End(args, admit.Judge)); return nil }
	case "kustomize":
		return func(args []string) error {
			out := resultsOf(os.Stdout)
			return out.end(out.collect(func() error { return kustomize.Run(context.Background(), args) }))
		}
	}
	if run := standalone.Program(name); run != nil {
		return func(args []string) error { run(args); return nil }
	}
	return nil
}

const (
	long = `Write, run, test and deploy Kubernetes operators, with nothing but Go: the control plane, the
generators, kubectl and the rest are in this one program.`

	examples = `  # A project with one kind, running on a control plane of its own
  operon init --domain example.com --repo example.com/guestbook
  operon create api --group webapp --version v1 --kind Guestbook --resource --controller
  operon run --samples

  # A Kubernetes control plane, without a container in sight
  operon cluster

  # Completion for this shell; zsh and fish likewise
  source <(operon completion bash)`
)

// The groups of the help, in the order of a project's life.
const (
	groupProject = "project"
	groupInner   = "inner"
	groupShip    = "ship"
	groupTools   = "tools"
)

var groups = []*cobra.Group{
	{ID: groupProject, Title: "Make a project:"},
	{ID: groupInner, Title: "Work on it:"},
	{ID: groupShip, Title: "Put it on a cluster:"},
	{ID: groupTools, Title: "The field's tools, under their own flags:"},
}

// grouped puts commands into a group of the help.
func grouped(id string, commands ...*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		cmd.GroupID = id
	}
	return commands
}

func newCommand() *cobra.Command {
	// cobra takes over the flags that Kubernetes' packages declare for the process.
	pflag.CommandLine = pflag.NewFlagSet("operon", pflag.ContinueOnError)
	cmd := &cobra.Command{
		Use:           "operon",
		Short:         "Write, run, test and deploy Kubernetes operators",
		Long:          long,
		Version:       version(),
		Example:       examples,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(root *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(root, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SuggestionsMinimumDistance: 2,
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if value := (*pflag.InvalidValueError)(nil); errors.As(err, &value) {
			flag := value.GetFlag()
			return fmt.Errorf("--%s %q: give %s; %s --help says what it is for", flag.Name, value.GetValue(), takes(flag), cmd.CommandPath())
		}
		return fmt.Errorf("%w: %s --help lists the flags", err, cmd.CommandPath())
	})
	cmd.AddGroup(groups...)
	cmd.AddCommand(grouped(groupProject, scaffold.NewCommands()...)...)
	cmd.AddCommand(grouped(groupProject, migrate.NewCommand(), upgrade.NewCommand())...)
	cmd.AddCommand(grouped(groupInner, recipe.NewCommand(), devloop.NewCommand(generate), cluster.NewCommand())...)
	cmd.AddCommand(grouped(groupShip, deploy.NewCommands()...)...)
	cmd.AddCommand(grouped(groupShip, image.NewBuildCommand(), image.NewPushCommand())...)
	cmd.AddCommand(grouped(groupTools,
		standIn("controller-gen", "Generate code and manifests from types and their markers"),
		standIn("kubectl", "kubectl "+kubeversion.Version),
		standIn("kustomize", "kustomize, of the version that kubectl has built in"),
		setupenvtest.NewCommand(version()),
	)...)
	cmd.AddCommand(newVersionCommand())
	refuseUnknown(cmd)
	addCompletions(cmd)
	return cmd
}

// noCommand says that the root command has no verb of that name, and which one may have been meant.
func noCommand(root *cobra.Command, name string) error {
	meant := ""
	if near := root.SuggestionsFor(name); len(near) > 0 {
		meant = "did you mean " + strings.Join(near, " or ") + "? "
	}
	return fmt.Errorf("%q is not a command of operon: %soperon --help lists them", name, meant)
}

// takes says what a flag of a type wants.
func takes(flag *pflag.Flag) string {
	switch flag.Value.Type() {
	case "bool":
		return "true or false"
	case "int", "int32", "int64", "count":
		return "a whole number"
	case "duration":
		return "a time such as 30s or 3m"
	case "stringToString":
		return "name=value"
	}
	return "a " + flag.Value.Type()
}

// refuseUnknown has the commands that cobra adds by itself refuse what they do not know; otherwise they would print help, and be content.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				if len(args) > 0 {
					return fmt.Errorf("there is no completion for %q: take bash, zsh, fish or powershell", args[0])
				}
				return nil
			}
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			cmd.Run, cmd.RunE = nil, func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return noCommand(root, strings.Join(args, " "))
				}
				about.InitDefaultHelpFlag()
				return about.Help()
			}
		}
	}
}

// generate runs the generators over the project in root, for the inner loop.
func generate(ctx context.Context, root string, stderr io.Writer) error {
	operon, err := os.Executable()
	if err != nil {
		return err
	}
	return recipe.Run(ctx, operon, root, stderr)
}

// standIn lists a program in the help; main runs it before its arguments get here.
func standIn(name, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use:                name,
		Short:              short,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return programs(name)(args) },
	}
	if name != "controller-gen" { // which knows nothing of shells
		cmd.ValidArgsFunction = completeProgram
	}
	return cmd
}

func newVersionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of operon and of its Kubernetes",
		Args:  cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmdline.CheckOutput(output); err != nil {
				return err
			}
			versions := struct {
				Operon     string `json:"operon"`
				Kubernetes string `json:"kubernetes"`
				Go         string `json:"go"`
			}{version(), kubeversion.Version, runtime.Version()}
			if output == cmdline.JSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(versions)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "operon %s\nkubernetes %s\n", versions.Operon, versions.Kubernetes)
			return err
		},
	}
	cmdline.AddOutput(cmd.Flags(), &output, "one object")
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
