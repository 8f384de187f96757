package scaffold

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
)

const initExamples = `  # A project for the group example.com, as the Go module github.com/you/memcached-operator
  mkdir memcached-operator && cd memcached-operator
  operon init --domain example.com --repo github.com/you/memcached-operator

  # Its first kind
  operon create api --group cache --version v1alpha1 --kind Memcached`

func newInit() *cobra.Command {
	var opts initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make a new project in the current directory",
		Long: `Make a new project in the current directory: the manager's main, the kustomizations that deploy it, a Makefile and a Dockerfile, laid
out as by Kubebuilder v4. It compiles at once. Kinds are added with operon create api.

An existing go.mod is added to; an existing .gitignore, .dockerignore or README.md stays as it is. Other files are not overwritten.
Until Operon is published, go.mod replaces it with the checkout that this command was built from.`,
		Example: initExamples,
		Args:    cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := workingDir()
			if err != nil {
				return err
			}
			if err := checkPlugins(cmd); err != nil {
				return err
			}
			set, p, err := initProject(dir, opts)
			if err != nil {
				return err
			}
			if err := layout.CheckNewProjectName(p.ProjectName); err != nil {
				return err
			}
			if err := commit(cmd, set); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "Next: operon create api --group cache --version v1alpha1 --kind Memcached")
			return nil
		},
	}
	what, how := group("The project"), group("How it is made")
	f := what.flags
	f.StringVar(&opts.domain, "domain", "my.domain", "what the API groups end in: a DNS name that is yours")
	f.StringVar(&opts.repo, "repo", "", "path of the Go module (default: that of go.mod, or the place below GOPATH)")
	f.StringVar(&opts.projectName, "project-name", "", "prefix of the names of what is deployed, 28 characters at most (default: the directory's name)")
	f = how.flags
	f.StringVar(&opts.owner, "owner", "", "who has the copyright, in the head of Go files")
	f.StringVar(&opts.license, "license", "apache2", "what the head of Go files says: apache2, copyright or none")
	f.StringVar(&opts.operonSource, "operon-source", "", "checkout of Operon to build against (default: the one that this command was built from)")
	f.BoolVar(&opts.force, "force", false, "overwrite existing files")
	addPlugins(f)
	ignored(f, "project-version", "3")
	ignoredBool(f, "fetch-deps", "skip-go-version-check")
	setFlags(cmd, what, how)
	return cmd
}
