package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/review"
)

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
		Args:    cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := projectToAddTo(cmd)
			if err != nil {
				return err
			}
			f := cmd.Flags()
			opts.resource.set, opts.controller.set = f.Changed("resource"), f.Changed("controller")
			if opts.external.path != "" && !opts.resource.set {
				opts.resource.set, opts.resource.value = true, false
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
		Args:    cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := projectToAddTo(cmd)
			if err != nil {
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

// projectToAddTo is the project of the current directory, for a verb that takes Kubebuilder's --plugins.
func projectToAddTo(cmd *cobra.Command) (*project.Project, error) {
	p, err := findProject()
	if err != nil {
		return nil, err
	}
	return p, checkPlugins(cmd)
}
