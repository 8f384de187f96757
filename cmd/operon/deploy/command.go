package deploy

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// flags are those of the four verbs.
type flags struct {
	kubeconfig, context string
	dir                 string
	output              string
	timeout             time.Duration
	dryRun              bool
	image               string
	container           string
	apply               ApplyOptions
}

// A verb is one of the four commands: which tree it takes, and what it does with it.
type verb struct {
	use, short, long, example string
	// dir is the tree's default place below the project's root.
	dir string
	// part is what the tree holds of the project; see SetOf.
	part string
	// definitionsOnly refuses a tree with anything else, and keeps the record in the namespace default.
	definitionsOnly bool
	remove          bool
}

// NewCommands returns install, uninstall, deploy and undeploy.
func NewCommands() []*cobra.Command {
	var commands []*cobra.Command
	for _, v := range []verb{
		{
			use: "install", short: "Put the project's CRDs on a cluster", dir: "config/crd", part: Definitions, definitionsOnly: true,
			long: `Apply the custom resource definitions of config/crd to a cluster, with server-side apply,
and wait until the API server serves them. A definition that the project no longer holds is
pruned, unless it still has objects: then it is kept and named.

The cluster is the one that kubectl would use.`,
			example: `  # Into the cluster of the current context
  operon install

  # What would change
  operon install --dry-run`,
		},
		{
			use: "uninstall", short: "Take the project's CRDs, and their objects, off a cluster", dir: "config/crd", part: Definitions, definitionsOnly: true, remove: true,
			long: `Delete the custom resource definitions of config/crd from a cluster, and with them every
object of their kinds, and wait until they are gone. An object with a finalizer needs its
operator running to go.`,
			example: `  # Off the cluster of the current context
  operon uninstall`,
		},
		{
			use: "deploy", short: "Put the whole operator on a cluster", dir: "config/default",
			long: `Build config/default as kustomize does, apply it to a cluster with server-side apply, and
wait until the definitions are served and the operator is available. What an earlier
deployment held and this one does not is pruned; namespaces, and definitions that still have
objects, are kept and named.

When the operator does not become available in time, the last line says what its pods wait
for. What was applied stays; deploy again after mending it, or undeploy.`,
			example: `  # With the image that the kustomization names
  operon deploy

  # With another image, leaving the kustomization as it is
  operon deploy --image registry.example.com/memcached-operator:v1.2.0

  # For a script
  operon deploy -o json`,
		},
		{
			use: "undeploy", short: "Take the whole operator, and its objects, off a cluster", dir: "config/default", remove: true,
			long: `Delete what deploy put on the cluster and wait until it is gone. Custom resources go first,
while the operator that finalizes them still runs; then the operator, then its namespace.`,
			example: `  # Off the cluster of the current context
  operon undeploy`,
		},
	} {
		commands = append(commands, v.command())
	}
	return commands
}

func (v verb) command() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: v.use, Short: v.short, Long: v.long, Example: v.example,
		Args: cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return v.run(cmd, &f) },
	}
	set := cmd.Flags()
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` of the cluster (default: KUBECONFIG, then ~/.kube/config)")
	set.StringVar(&f.context, "context", "", "`context` of the kubeconfig (default: its current one)")
	set.StringVar(&f.dir, "dir", "", "kustomize `directory` to take, relative to where you are (default: "+v.dir+" of the project)")
	set.DurationVar(&f.timeout, "timeout", 3*time.Minute, "how long to wait in all")
	set.BoolVar(&f.dryRun, "dry-run", false, "let the API server say what would change, and change nothing")
	cmdline.AddOutput(set, &f.output, "one array of all changes")
	if !v.remove {
		set.BoolVar(&f.apply.NoPrune, "no-prune", false, "leave what the project no longer holds")
	}
	if v.use == "deploy" {
		set.BoolVar(&f.apply.NoWait, "no-wait", false, "return without waiting for the operator to become available")
		set.StringVar(&f.image, "image", "", "`image` to run, instead of the one that the kustomization names")
		set.StringVar(&f.container, "container", "manager", "`name` of the container that runs --image")
	}
	return cmd
}

func (v verb) run(cmd *cobra.Command, f *flags) error {
	if err := cmdline.CheckOutput(f.output); err != nil {
		return err
	}
	if f.timeout <= 0 {
		return fmt.Errorf("--timeout %s: give a time to wait, for example 3m", f.timeout)
	}
	name, dir, err := v.tree(f)
	if err != nil {
		return err
	}
	objects, err := Render(dir)
	if err != nil {
		return err
	}
	if f.image != "" {
		if err := SetImage(objects, f.container, f.image); err != nil {
			return err
		}
	}
	set, err := v.set(name, dir, objects)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	c, err := Connect(ctx, f.kubeconfig, f.context)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("--timeout %s is over", f.timeout))
	defer cancel()
	report := NewReporter(cmd.OutOrStdout(), cmd.ErrOrStderr(), f.output == cmdline.JSON)
	deployer := NewDeployer(c, report, f.dryRun)
	if v.remove {
		err = deployer.Remove(ctx, set, objects)
	} else {
		err = deployer.Apply(ctx, set, objects, f.apply)
	}
	return errors.Join(ended(ctx, err), report.Close(err != nil))
}

// ended gives a request that the end of ctx broke off the reason for that end, and the way out. Waits give the reason themselves.
func ended(ctx context.Context, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w before everything was done: what was done stays, and the same command continues from there", context.Cause(ctx))
}

// tree returns the project's name and the directory of the verb's kustomization.
func (v verb) tree(f *flags) (name, dir string, err error) {
	p, err := project.Find(".")
	if err != nil {
		if f.dir == "" {
			return "", "", err
		}
		// A kustomize tree outside of a project is fine where it is named.
		abs, err := filepath.Abs(f.dir)
		return filepath.Base(filepath.Dir(abs)), f.dir, err
	}
	dir = f.dir
	if dir == "" {
		dir = filepath.Join(p.Root(), filepath.FromSlash(v.dir))
	}
	name = p.ProjectName
	if name == "" {
		name = filepath.Base(p.Root())
	}
	return name, dir, nil
}

// set returns the set of objects. Its record lives where the operator does; definitions alone have no namespace of their own.
func (v verb) set(name, dir string, objects []*unstructured.Unstructured) (Set, error) {
	s := SetOf(name, v.part)
	for _, object := range objects {
		if v.definitionsOnly && rank(object) != rankDefinition {
			return Set{}, fmt.Errorf("%s: %s is not a custom resource definition: operon %s takes nothing else; operon deploy takes the whole operator", dir, describe(object), v.use)
		}
	}
	if v.definitionsOnly {
		return s, nil
	}
	for _, object := range objects {
		if ns := object.GetNamespace(); ns != "" {
			s.Namespace = ns
			return s, nil
		}
	}
	return s, nil
}
