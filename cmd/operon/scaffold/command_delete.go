package scaffold

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/review"
)

const deleteAPIExamples = `  # See what would go, and answer whether it should
  operon delete api --group cache --version v1alpha1 --kind Memcached

  # In a script
  operon delete api --group cache --version v1alpha1 --kind Memcached --yes`

func newDeleteAPI() *cobra.Command {
	return newDelete("api", "Take a kind and its controllers out", `Take a kind and its controllers out of the project, and untie them from the manager and from config.

Files that were changed since they were made stay where they are, and what they need stays with them; --force removes them too.
On a terminal it lists what will go and asks. Elsewhere it only lists it, unless --yes is given.`, deleteAPIExamples, deleteAPI)
}

const deleteWebhookExamples = `  operon delete webhook --group cache --version v1alpha1 --kind Memcached`

func newDeleteWebhook() *cobra.Command {
	return newDelete("webhook", "Take the webhooks of a kind out", `Take the webhooks of a kind out of the project, and untie them from the manager and from config. With the last of them go the service and the
certificate.

Files that were changed since they were made stay where they are; --force removes them too. A file that stays has its markers still: take
those out, or make manifests goes on writing webhooks that nobody serves.
On a terminal it lists what will go and asks. Elsewhere it only lists it, unless --yes is given.`, deleteWebhookExamples, deleteWebhook)
}

func newDelete(use, short, long, examples string, plan func(*project.Project, deleteOptions) (*removal, error)) *cobra.Command {
	var opts deleteOptions
	var yes, make bool
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: examples, Args: cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := findProject()
			if err != nil {
				return err
			}
			rm, err := plan(p, opts)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for _, c := range rm.set.Changes() {
				fmt.Fprintf(out, "%-7s %s\n", c.Op, c.Path)
			}
			for _, path := range rm.kept {
				fmt.Fprintf(out, "%-7s %s (changed since it was made, or needed by a file that was)\n", "keep", path)
			}
			if !yes {
				if yes, err = review.Confirm(cmd, "Go on [y/n]"); err != nil || !yes {
					return err
				}
			}
			if err := rm.set.Commit(); err != nil || !make {
				return err
			}
			return runGenerators(cmd, p)
		},
	}
	kind, how := group("The kind"), group("How it is taken out")
	addGVK(kind.flags, &opts.gvk)
	f := how.flags
	f.BoolVar(&opts.force, "force", false, "remove files that were changed too")
	f.BoolVarP(&yes, "yes", "y", false, "go on without asking")
	f.BoolVar(&make, "make", true, "run the generators afterwards")
	addPlugins(f)
	setFlags(cmd, kind, how)
	return cmd
}
