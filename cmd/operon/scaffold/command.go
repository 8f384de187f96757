package scaffold

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/review"
)

// NewCommands returns the verbs that make and change projects: init, create, delete and edit. They are to be added to a command that has "controller-gen"
// too, which they call for what follows from the code.
func NewCommands() []*cobra.Command {
	create := &cobra.Command{
		Use:   "create",
		Short: "Add a kind with its controller, or webhooks, to the project",
		Long:  "Add to the project that the current directory is in. What is there already is changed only where it says so with a marker, and is never overwritten.",
		Args:  noCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	create.AddCommand(newCreateAPI(), newCreateWebhook())
	remove := &cobra.Command{
		Use:   "delete",
		Short: "Take back what create made",
		Long:  "Take a kind or its webhooks out of the project. What will go is listed first; files that were changed since they were made stay, unless --force is given.",
		Args:  noCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	remove.AddCommand(newDeleteAPI(), newDeleteWebhook())
	return []*cobra.Command{newInit(), create, remove, newEdit()}
}

func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is not something to %s: operon %s --help lists what is", args[0], cmd.Name(), cmd.Name())
	}
	return nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, only flags: %q is not one", cmd.CommandPath(), args[0])
	}
	return nil
}

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
		Args:    noArgs,
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

const createAPIExamples = `  # A kind with its controller
  operon create api --group cache --version v1alpha1 --kind Memcached

  # The same, complete: a controller that runs an image in a Deployment behind a Service
  operon create api --group cache --version v1alpha1 --kind Memcached \
    --image memcached:1.6.39-alpine --image-container-port 11211

  # A second version of the kind, without a controller; a second controller for the kind
  operon create api --group cache --version v1beta1 --kind Memcached --resource --controller=false
  operon create api --group cache --version v1alpha1 --kind Memcached --resource=false --controller-name memcached-backup

  # A controller for a kind of Kubernetes, and for one of another project
  operon create api --group apps --version v1 --kind Deployment --resource=false --controller
  operon create api --group cert-manager --version v1 --kind Certificate --external-api-domain io \
    --external-api-path github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1 \
    --external-api-module github.com/cert-manager/cert-manager@v1.18.2`

func newCreateAPI() *cobra.Command {
	var opts apiOptions
	var make bool
	var command string
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Add a kind, its controller, or both",
		Long: `Add a kind to the project: its Go types, its controller with a test, a sample, roles for people, and all that ties them to the manager and to
config. Then the generators run, so that the project compiles and can be deployed.

On a terminal it asks whether the types and the controller are wanted, unless flags say so. Elsewhere it makes those of the two that do not exist yet.`,
		Example: createAPIExamples,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := findProject()
			if err != nil {
				return err
			}
			if err := checkPlugins(cmd); err != nil {
				return err
			}
			f := cmd.Flags()
			opts.resource.set, opts.controller.set = f.Changed("resource"), f.Changed("controller")
			if opts.external.path != "" && !opts.resource.set {
				opts.resource.set, opts.resource.value = true, false
			}
			if opts.external.path != "" && opts.resource.value {
				return opts.check()
			}
			opts.image.Command = words(command)
			set, r, err := createAPI(p, opts, review.AskerOf(cmd))
			if err != nil {
				return err
			}
			if err := goGet(cmd, set, r); err != nil {
				return err
			}
			names, edit := layout.Of(p, r), []string{}
			for _, path := range []string{names.Types(), names.ControllerFile(opts.controllerName)} {
				if slices.Contains(set.Changes(), fileset.Change{Path: path, Op: fileset.Created}) {
					edit = append(edit, path)
				}
			}
			return finish(cmd, p, set, make, "Next: write "+strings.Join(edit, " and ")+", then make test; make run")
		},
	}
	kind, parts, complete, foreign, how := group("The kind"), group("What to make"), group("A complete controller"), group("Another project's kind"), group("How it is made")
	f := kind.flags
	addGVK(f, &opts.gvk)
	f.StringVar(&opts.plural, "plural", "", "name of the resource, where it is not the kind's regular plural")
	f.BoolVar(&opts.namespaced, "namespaced", true, "objects of the kind are in namespaces")
	f = parts.flags
	f.BoolVar(&opts.resource.value, "resource", true, "make the types, without asking")
	f.BoolVar(&opts.controller.value, "controller", true, "make the controller, without asking")
	f.StringVar(&opts.controllerName, "controller-name", "", "name of the controller, where a kind has several (default: the kind's)")
	f = complete.flags
	f.StringVar(&opts.image.Name, "image", "", "image that a complete controller is to run, with types to match")
	f.StringVar(&command, "image-container-command", "", "command of the image's container, its words separated by commas")
	f.Int32Var(&opts.image.Port, "image-container-port", 0, "port that the image serves: it gets a Service")
	f.Int64Var(&opts.image.User, "run-as-user", 0, fmt.Sprintf("user ID that the image's container runs as (default: %d)", defaultUser))
	addExternal(foreign.flags, &opts.external)
	f = how.flags
	f.BoolVar(&make, "make", true, "run the generators afterwards")
	f.BoolVar(&opts.force, "force", false, "overwrite existing files")
	ignoredBool(f, "manifests")
	addPlugins(f)
	setFlags(cmd, kind, parts, complete, foreign, how)
	return cmd
}

const createWebhookExamples = `  # Defaults for, and validation of, a kind of the project
  operon create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --programmatic-validation

  # Conversion: v1 is the version by way of which the others are converted
  operon create webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1

  # For clusters without cert-manager: the manager makes the certificate
  operon create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --certificates manager

  # A webhook for a kind of Kubernetes
  operon create webhook --group core --version v1 --kind Pod --defaulting`

func newCreateWebhook() *cobra.Command {
	var opts webhookOptions
	var make bool
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Add webhooks to a kind",
		Long: `Add webhooks to a kind: the code with a test, their service and certificate in config, and all that ties them to the manager. Then the
generators run.

What is there already stays as it is, even with --force: webhooks are added to a file that has others.
ENABLE_WEBHOOKS=false in the manager's environment leaves all of them out.

The first webhook of a project settles who makes the certificate of all of them: cert-manager, which the cluster has to have then, or with
--certificates manager the manager, on Operon's library.`,
		Example: createWebhookExamples,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := findProject()
			if err != nil {
				return err
			}
			if err := checkPlugins(cmd); err != nil {
				return err
			}
			set, r, err := createWebhook(p, opts)
			if err != nil {
				return err
			}
			if err := goGet(cmd, set, r); err != nil {
				return err
			}
			next := "Next: write what the webhooks do in " + layout.Of(p, r).WebhookFile() + ", then make test; make run"
			if !opts.defaulting && !opts.validation {
				next = "Next: write how the versions are converted, then make test; make run"
			}
			return finish(cmd, p, set, make, next)
		},
	}
	kind, parts, foreign, how := group("The kind"), group("What to make"), group("Another project's kind"), group("How it is made")
	f := kind.flags
	addGVK(f, &opts.gvk)
	f.StringVar(&opts.plural, "plural", "", "name of the resource, for a kind that the project does not have")
	f = parts.flags
	f.BoolVar(&opts.defaulting, "defaulting", false, "make a webhook that fills in what objects leave open")
	f.StringVar(&opts.defaultingPath, "defaulting-path", "", "where it is served (default: /mutate-GROUP-VERSION-KIND)")
	f.BoolVar(&opts.validation, "programmatic-validation", false, "make a webhook that refuses objects")
	f.StringVar(&opts.validationPath, "validation-path", "", "where it is served (default: /validate-GROUP-VERSION-KIND)")
	f.BoolVar(&opts.conversion, "conversion", false, "make conversions between this version and those of --spoke")
	f.StringSliceVar(&opts.spokes, "spoke", nil, "versions that are converted to and from this one, separated by commas")
	addExternal(foreign.flags, &opts.external)
	f = how.flags
	f.BoolVar(&make, "make", true, "run the generators afterwards")
	f.StringVar(&opts.certificates, "certificates", "", "who makes the webhooks' certificate: cert-manager, or manager for the manager itself (default: as the project has it, or cert-manager)")
	f.BoolVar(&opts.force, "force", false, "add what is missing of webhooks that are there; nothing is overwritten")
	addPlugins(f)
	setFlags(cmd, kind, parts, foreign, how)
	return cmd
}

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
		Use: use, Short: short, Long: long, Example: examples, Args: noArgs,
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
				ask := review.AskerOf(cmd)
				if ask == nil {
					return errors.New("nothing is changed yet: say --yes to go on")
				}
				if yes, err = ask("Go on [y/n]"); err != nil || !yes {
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

func newEdit() *cobra.Command {
	var multiGroup bool
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Change the project's settings",
		Long: `Change the project's settings.

With --multigroup, what is created from now on gets directories by its group: api/GROUP/VERSION, internal/controller/GROUP and
internal/webhook/GROUP/VERSION. What is there stays where it is, and goes on working: PROJECT knows where.`,
		Example: "  # Allow kinds of several groups\n  operon edit --multigroup",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := findProject()
			if err != nil {
				return err
			}
			var opts editOptions
			if cmd.Flags().Changed("multigroup") {
				opts.multiGroup = &multiGroup
			}
			set, err := editProject(p, opts)
			if err != nil {
				return err
			}
			if len(set.Changes()) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "The project is set up that way already: there is nothing to change.")
				return err
			}
			return commit(cmd, set)
		},
	}
	settings := group("Settings")
	settings.flags.BoolVar(&multiGroup, "multigroup", false, "give every group directories of its own")
	addPlugins(settings.flags)
	setFlags(cmd, settings)
	return cmd
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
