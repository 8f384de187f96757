package main

import (
	"bufio"
	"bytes"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// flagValues are what a shell offers as the value of a flag, by the flag's name, which means the same with every verb. Other flags take what
// only a person knows, or files where they say so.
var flagValues = map[string]cobra.CompletionFunc{
	"certificates": cobra.FixedCompletions([]string{"cert-manager", "manager"}, cobra.ShellCompDirectiveNoFileComp),
	"license":      cobra.FixedCompletions([]string{"apache2", "copyright", "none"}, cobra.ShellCompDirectiveNoFileComp),
	"output":       cobra.FixedCompletions(cmdline.Forms(), cobra.ShellCompDirectiveNoFileComp),
	"print":        cobra.FixedCompletions([]string{"overview", "path", "env"}, cobra.ShellCompDirectiveNoFileComp),
	"platform":     listed(cobra.FixedCompletions([]string{"linux/amd64", "linux/arm64"}, cobra.ShellCompDirectiveNoFileComp)),
	"context":      completeContexts,
	"group":        fromProject(func(r *project.Resource) string { return r.Group }),
	"version":      fromProject(func(r *project.Resource) string { return r.Version }),
	"kind":         fromProject(func(r *project.Resource) string { return r.Kind }),
	"spoke":        listed(fromProject(func(r *project.Resource) string { return r.Version })),
	"image":        cobra.NoFileCompletions,
}

// addCompletions has shells offer values of flags below a command, and no files where a verb takes no arguments.
func addCompletions(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		addCompletions(sub)
	}
	offer := func(flag *pflag.Flag) {
		values := flagValues[flag.Name]
		if flag.Value.Type() == "string" && values == nil && !strings.Contains(flag.Usage, "file") && !strings.Contains(flag.Usage, "directory") && !strings.Contains(flag.Usage, "checkout") {
			values = cobra.NoFileCompletions
		}
		if values != nil && flag.Value.Type() != "bool" {
			// The error says that the flag has one already.
			_ = cmd.RegisterFlagCompletionFunc(flag.Name, values)
		}
		if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], cobra.ShellCompRequestCmd) {
			flag.Usage = strings.ReplaceAll(flag.Usage, "`", "") // which mark the name of the value, for the help alone
		}
	}
	cmd.Flags().VisitAll(offer)
	cmd.PersistentFlags().VisitAll(offer)
	if !cmd.HasSubCommands() && cmd.ValidArgsFunction == nil && !cmd.DisableFlagParsing {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// listed offers values of a flag that takes several, separated by commas: after those that are there, the others.
func listed(values cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		there := toComplete[:strings.LastIndex(toComplete, ",")+1]
		all, directive := values(cmd, args, toComplete[len(there):])
		var offered []string
		for _, value := range all {
			if !slices.Contains(strings.Split(there, ","), value) {
				offered = append(offered, there+value)
			}
		}
		return offered, directive
	}
}

// fromProject offers what the resources of the project have that the current directory is in.
func fromProject(of func(*project.Resource) string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		p, err := project.Find(".")
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		values := map[string]bool{}
		for _, r := range p.Resources {
			values[of(r)] = true
		}
		return slices.Sorted(maps.Keys(values)), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeContexts offers the contexts of the kubeconfig that kubectl would use, or of --kubeconfig.
func completeContexts(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if flag := cmd.Flag("kubeconfig"); flag != nil {
		rules.ExplicitPath = flag.Value.String()
	}
	config, err := rules.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(config.Contexts)), cobra.ShellCompDirectiveNoFileComp
}

// completeProgram asks a program that the binary stands in for, in a process of its own.
func completeProgram(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	operon, err := os.Executable()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	asked := slices.Concat([]string{cmd.Name(), cobra.ShellCompRequestCmd}, args, []string{toComplete})
	out, err := exec.CommandContext(cmd.Context(), operon, asked...).Output()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []string
	directive := cobra.ShellCompDirectiveDefault
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		// The last line is the directive, as in :4.
		if number, ok := strings.CutPrefix(lines.Text(), ":"); ok {
			if n, err := strconv.Atoi(number); err == nil {
				directive = cobra.ShellCompDirective(n)
			}
			break
		}
		found = append(found, lines.Text())
	}
	return found, directive
}
