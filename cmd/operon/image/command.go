package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

const (
	// layoutDir is where build leaves a layout and push looks for it, below the project's root.
	layoutDir        = "bin/image"
	defaultPlatforms = "linux/amd64,linux/arm64"
	epochVariable    = "SOURCE_DATE_EPOCH"
)

// NewBuildCommand returns "operon build".
func NewBuildCommand() *cobra.Command {
	var reference, platforms, base, pkg, layout, tarball, output string
	var labels map[string]string
	var push bool
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the operator's container image, without Docker",
		Long: `Compile the manager and put it into a container image for each platform: a static binary,
certificates of public authorities, and a user that is not root; no shell and no base image,
unless --base names one. The same sources give the same digest, wherever and whenever they
are built. (Everything in the image is dated 1970, or by ` + epochVariable + `.)

The result is an OCI layout in ` + layoutDir + `, with a bill of materials (SBOM) for each platform;
operon push sends it to a registry.`,
		Example: `  # For amd64 and arm64, then push
  operon build --image registry.example.com/memcached-operator:v1.2.0
  operon push

  # For this machine's Docker
  operon build --image memcached-operator:dev --platform linux/amd64 --tarball operator.tar
  docker load < operator.tar`,
		Args: cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmdline.CheckOutput(output); err != nil {
				return err
			}
			o, err := options(reference, platforms, base, pkg, labels)
			if err != nil {
				return err
			}
			if tarball != "" && len(o.Platforms) != 1 {
				return fmt.Errorf("a tarball holds one platform, not %d: choose it with --platform", len(o.Platforms))
			}
			if layout == "" {
				layout = filepath.Join(o.Root, filepath.FromSlash(layoutDir))
			}
			o.Stderr = cmd.ErrOrStderr()
			o.Step = func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), what) }
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			r, err := build(ctx, o, layout, tarball)
			if err != nil {
				return err
			}
			if push {
				if r, err = pushed(ctx, cmd, layout, o.Reference); err != nil {
					return err
				}
				r.Tarball = tarball
			}
			return r.print(cmd.OutOrStdout(), output)
		},
	}
	f := cmd.Flags()
	f.StringVar(&reference, "image", "controller:latest", "`name` of the image")
	f.StringVar(&platforms, "platform", defaultPlatforms, "comma-separated `list` of platforms")
	f.StringVar(&base, "base", "", "`image` to build on (default: none)")
	f.StringVar(&pkg, "package", "", "`package` of the manager (default: ./cmd, or the project's root)")
	f.StringToStringVar(&labels, "label", map[string]string{}, "`name=value` to put on the image; may be repeated")
	f.Lookup("label").DefValue = "" // "[]" says nothing
	f.StringVar(&layout, "layout", "", "`directory` of the OCI layout (default: "+layoutDir+" of the project)")
	f.StringVar(&tarball, "tarball", "", "write a `file` for docker load as well; with one platform only")
	f.BoolVar(&push, "push", false, "push the image when it is built")
	cmdline.AddOutput(f, &output, "one object with the names and digests")
	return cmd
}

// NewPushCommand returns "operon push".
func NewPushCommand() *cobra.Command {
	var reference, layout, output string
	cmd := &cobra.Command{
		Use:   "push",
		Short: "Push the image that operon build made to a registry",
		Long: `Push the OCI layout that operon build left to a registry, with its bills of materials, and
print the name with the digest, by which a cluster gets exactly this image.

Credentials are those of docker login and podman login, their credential helpers included.`,
		Example: `  # Under the name that it was built with
  operon push

  # Under another
  operon push --image registry.example.com/memcached-operator:v1.2.0`,
		Args: cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmdline.CheckOutput(output); err != nil {
				return err
			}
			var to name.Reference
			if reference != "" {
				var err error
				if to, err = parseReference(reference); err != nil {
					return err
				}
			}
			if layout == "" {
				p, err := project.Find(".")
				if err != nil {
					return err
				}
				layout = filepath.Join(p.Root(), filepath.FromSlash(layoutDir))
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			r, err := pushed(ctx, cmd, layout, to)
			if err != nil {
				return err
			}
			return r.print(cmd.OutOrStdout(), output)
		},
	}
	f := cmd.Flags()
	f.StringVar(&reference, "image", "", "`name` to push under (default: the one that it was built with)")
	f.StringVar(&layout, "layout", "", "`directory` of the OCI layout (default: "+layoutDir+" of the project)")
	cmdline.AddOutput(f, &output, "one object with the names and digests")
	return cmd
}

func options(reference, platforms, base, pkg string, labels map[string]string) (o Options, err error) {
	if o.Reference, err = parseReference(reference); err != nil {
		return o, err
	}
	if o.Platforms, err = ParsePlatforms(platforms); err != nil {
		return o, err
	}
	if base != "" {
		if o.Base, err = parseReference(base); err != nil {
			return o, err
		}
	}
	if o.Made, err = made(os.Getenv(epochVariable)); err != nil {
		return o, err
	}
	p, err := project.Find(".")
	if err != nil {
		return o, err
	}
	o.Root, o.Package, o.Labels = p.Root(), pkg, labels
	if o.Package == "" {
		o.Package, err = p.ManagerPackage()
	}
	return o, err
}

func parseReference(text string) (name.Reference, error) {
	reference, err := name.ParseReference(text)
	if err != nil {
		// The library's own error is no more than that.
		return nil, fmt.Errorf("%q is not the name of an image: write it like registry.example.com/memcached-operator:v1.2.0, a repository of two characters at least", text)
	}
	return reference, nil
}

// made returns the time that SOURCE_DATE_EPOCH (reproducible-builds.org) asks for, or 1970.
func made(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("%s=%s: it is to be a number of seconds since 1970, as `git log -1 --format=%%ct` prints", epochVariable, epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// build makes the image and writes it to layout, and to tarball unless that is empty.
func build(ctx context.Context, o Options, layout, tarball string) (r Report, err error) {
	// Before the minutes of compiling, not after.
	if err := replaceable(layout); err != nil {
		return r, err
	}
	if err := makeable(layout); err != nil {
		return r, err
	}
	if tarball != "" {
		if err := writable(tarball); err != nil {
			return r, err
		}
	}
	b, err := Compile(ctx, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := b.WriteLayout(layout); err != nil {
		return r, err
	}
	if tarball != "" {
		if err := b.WriteTarball(tarball); err != nil {
			return r, err
		}
	}
	r, err = newReport(o.Reference, b.Index, layout)
	r.Tarball = tarball
	return r, err
}

func pushed(ctx context.Context, cmd *cobra.Command, layout string, to name.Reference) (Report, error) {
	fmt.Fprintln(cmd.ErrOrStderr(), "pushing")
	r, err := Push(ctx, layout, to)
	if err != nil {
		return r, err
	}
	r.Pushed = true
	return r, nil
}
