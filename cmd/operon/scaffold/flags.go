package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// A flagGroup is a part of a verb's flags that belongs together.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// group returns a new part of a verb's flags. It is to be filled before setFlags.
func group(title string) flagGroup {
	f := pflag.NewFlagSet(title, pflag.ContinueOnError)
	f.SortFlags = false
	return flagGroup{title, f}
}

// setFlags gives a verb its flags, and has its help list them by their groups.
func setFlags(cmd *cobra.Command, groups ...flagGroup) {
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.flags)
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		fmt.Fprintf(out, "Usage:\n  %s [flags]\n\nExamples:\n%s\n", cmd.CommandPath(), strings.TrimRight(cmd.Example, "\n"))
		for _, g := range groups {
			if usages := g.flags.FlagUsages(); usages != "" {
				fmt.Fprintf(out, "\n%s:\n%s", g.title, usages)
			}
		}
		return nil
	})
}

func addGVK(f *pflag.FlagSet, g *gvk) {
	f.StringVar(&g.group, "group", "", "API group, without the domain")
	f.StringVar(&g.version, "version", "", "version of the API, as in v1alpha1")
	f.StringVar(&g.kind, "kind", "", "kind, as in Memcached")
}

func addExternal(f *pflag.FlagSet, e *externalAPI) {
	f.StringVar(&e.path, "external-api-path", "", "import path of the types of a kind that another project has")
	f.StringVar(&e.domain, "external-api-domain", "", "what that kind's group ends in")
	f.StringVar(&e.module, "external-api-module", "", "Go module of those types, for go get, as in github.com/cert-manager/cert-manager@v1.18.2")
}

// addPlugins declares the flag with which users of Kubebuilder choose plugins. There is one layout here, so it only has to be that one.
func addPlugins(f *pflag.FlagSet) {
	f.StringSlice("plugins", nil, "plugins, as Kubebuilder takes them: go/v4 is what there is")
	_ = f.MarkHidden("plugins")
}

func checkPlugins(cmd *cobra.Command) error {
	plugins, err := cmd.Flags().GetStringSlice("plugins")
	if err != nil {
		return err
	}
	known := []string{"go", "go/v4", project.Layout, "deploy-image/v1-alpha", "deploy-image.go.kubebuilder.io/v1-alpha", "kustomize.common.kubebuilder.io/v2"}
	for _, plugin := range plugins {
		if !slices.Contains(known, plugin) {
			return fmt.Errorf("--plugins %s is not known here: leave it out, the layout is that of go/v4", plugin)
		}
	}
	return nil
}

// ignored declares a flag of Kubebuilder that means nothing here.
func ignored(f *pflag.FlagSet, name, value string) {
	f.String(name, value, "ignored")
	_ = f.MarkHidden(name)
}

func ignoredBool(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		f.Bool(name, true, "ignored")
		_ = f.MarkHidden(name)
	}
}
