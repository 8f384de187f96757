package setupenvtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/kubeversion"
	"github.com/operon-dev/operon/pkg/envtest"
)

const long = `Give an envtest suite its programs: etcd, kube-apiserver and kubectl. They are this
binary under other names, so nothing is downloaded. Commands, flags and output are
those of controller-runtime's setup-envtest.

The programs are those of Kubernetes ` + kubeversion.Version + `. Where another version is asked for and
is not in the store, use says so on standard error and gives this one.`

const examples = `  # In a Makefile
  KUBEBUILDER_ASSETS="$(operon setup-envtest use 1.37 --bin-dir ./bin -p path)" go test ./...

  # In a shell
  source <(operon setup-envtest use -p env)`

// Environment variables that set flags.
const (
	envAssets        = "KUBEBUILDER_ASSETS"
	envInstalledOnly = "ENVTEST_INSTALLED_ONLY"
	envUseEnv        = "ENVTEST_USE_ENV"
)

// options are the flags.
type options struct {
	os, arch      string
	binDir        string
	print         string
	force         bool
	installedOnly bool
	useEnv        bool
}

// NewCommand returns "operon setup-envtest". release is what its version command prints.
func NewCommand(release string) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:     "setup-envtest",
		Short:   "Give an envtest suite etcd, kube-apiserver and kubectl, without a download",
		Long:    long,
		Example: examples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%q is not a command of setup-envtest: use, list, cleanup and version are", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.useEnv {
				return o.use(cmd.OutOrStdout(), cmd.ErrOrStderr(), "")
			}
			return cmd.Help()
		},
	}
	f := cmd.PersistentFlags()
	f.StringVar(&o.arch, "arch", runtime.GOARCH, "architecture; '*' means all where versions are listed or removed")
	f.StringVar(&o.os, "os", runtime.GOOS, "operating system; '*' means all where versions are listed or removed")
	f.StringVar(&o.binDir, "bin-dir", "", "directory of the store (default: that of setup-envtest in the user's data directory)")
	f.BoolVar(&o.force, "force", false, "make the directory anew")
	f.BoolVarP(&o.installedOnly, "installed-only", "i", os.Getenv(envInstalledOnly) != "", "with list, only what is in the store; this binary's own version needs no installation")
	f.StringVarP(&o.print, "print", "p", "overview", "what use prints: overview, path or env")
	f.BoolVar(&o.useEnv, "use-env", os.Getenv(envUseEnv) != "", "print the value of "+envAssets+" where it is set")
	// What is about downloads is accepted from Makefiles, and there are none.
	for _, name := range []string{"index", "remote-bucket", "remote-server"} {
		f.String(name, "", "without effect: nothing is downloaded")
	}
	f.Bool("verify", true, "without effect: nothing is downloaded")
	f.Bool("use-deprecated-gcs", false, "without effect: nothing is downloaded")
	f.StringP("v", "v", "", "without effect: there is nothing to log")
	for _, name := range []string{"index", "remote-bucket", "remote-server", "verify", "use-deprecated-gcs", "v"} {
		if err := f.MarkHidden(name); err != nil {
			panic(err)
		}
	}
	cmd.AddCommand(
		verb("use [version]", "Print where the programs are, and make the directory where it is missing", o.use),
		verb("list [version]", "List the versions in the store, and this binary's", o.list),
		verb("cleanup [version]", "Remove versions from the store", o.cleanup),
		verb("sideload <version>", "Say what to do with a downloaded archive", sideload),
		verb("version", "Print the version of operon", func(out, _ io.Writer, _ string) error {
			_, err := fmt.Fprintln(out, "setup-envtest version:", release)
			return err
		}),
	)
	return cmd
}

// verb is a command with a version as its argument, if any.
func verb(use, short string, run func(out, errs io.Writer, version string) error) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%s takes one version, and %q is another: leave it out", cmd.CommandPath(), args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.OutOrStdout(), cmd.ErrOrStderr(), strings.Join(args, ""))
		},
	}
}

func (o *options) use(out, errs io.Writer, text string) error {
	switch o.print {
	case "overview", "path", "env":
	default:
		return fmt.Errorf("--print %q is not one of overview, path and env", o.print)
	}
	which, err := parseSelector(text)
	if err != nil {
		return err
	}
	if assets := os.Getenv(envAssets); o.useEnv && assets != "" {
		return o.report(out, version{dir: assets, os: o.os, arch: o.arch})
	}
	s, err := o.store()
	if err != nil {
		return err
	}
	own := s.version(ownNumber(), runtime.GOOS, runtime.GOARCH)
	foreign := o.os != runtime.GOOS || o.arch != runtime.GOARCH
	if foreign || !which.has(own.number) {
		there, err := s.versions(which, o.os, o.arch)
		if err != nil {
			return fmt.Errorf("store %s: %w", s.dir, err)
		}
		for _, v := range there {
			if v.complete() {
				return o.report(out, v)
			}
		}
	}
	if foreign {
		return fmt.Errorf("the programs of this operon are for %s/%s, not for %s/%s: leave out --os and --arch, or run an operon of that platform", runtime.GOOS, runtime.GOARCH, o.os, o.arch)
	}
	if !which.has(own.number) {
		fmt.Fprintf(errs, "operon setup-envtest: Kubernetes %s was asked for and is not in the store; this operon is Kubernetes %s, and is used instead\n", text, own.number)
	}
	if o.force || !s.upToDate(own) {
		if err := s.make(own); err != nil {
			return fmt.Errorf("store %s cannot be written (%w): choose another --bin-dir", s.dir, err)
		}
	}
	return o.report(out, own)
}

// report prints where a version is, as setup-envtest does.
func (o *options) report(out io.Writer, v version) error {
	var err error
	switch o.print {
	case "path":
		_, err = fmt.Fprint(out, v.dir)
	case "env":
		_, err = fmt.Fprintf(out, "export %s='%s'\n", envAssets, strings.ReplaceAll(v.dir, "'", `'"'"'`))
	default:
		if v.number != (number{}) {
			fmt.Fprintf(out, "Version: %s\n", v.number)
		}
		_, err = fmt.Fprintf(out, "OS/Arch: %s/%s\nPath: %s\n", v.os, v.arch, v.dir)
	}
	return err
}

// installed returns the store, and which of its versions an argument selects.
func (o *options) installed(text string) (s store, which selector, there []version, err error) {
	if which, err = parseSelector(text); err != nil {
		return s, which, nil, err
	}
	if s, err = o.store(); err != nil {
		return s, which, nil, err
	}
	if there, err = s.versions(which, o.os, o.arch); err != nil {
		err = fmt.Errorf("store %s: %w", s.dir, err)
	}
	return s, which, there, err
}

func (o *options) list(out, _ io.Writer, text string) error {
	s, which, there, err := o.installed(text)
	if err != nil {
		return err
	}
	own := s.version(ownNumber(), runtime.GOOS, runtime.GOARCH)
	installed := false
	for _, v := range there {
		installed = installed || v == own
		fmt.Fprintf(out, "(installed)  v%s  %s/%s\n", v.number, v.os, v.arch)
	}
	matches := which.has(own.number) && (o.os == "*" || o.os == own.os) && (o.arch == "*" || o.arch == own.arch)
	if matches && !installed && !o.installedOnly {
		fmt.Fprintf(out, "(available)  v%s  %s/%s\n", own.number, own.os, own.arch)
	}
	return nil
}

func (o *options) cleanup(out, _ io.Writer, text string) error {
	_, _, there, err := o.installed(text)
	if err != nil {
		return err
	}
	for _, v := range there {
		if err := remove(v.dir); err != nil {
			return fmt.Errorf("%s cannot be removed: %w", v.dir, err)
		}
		fmt.Fprintf(out, "removed %s (%s/%s)\n", v.number, v.os, v.arch)
	}
	return nil
}

var errSideload = errors.New("operon has no need of archives: unpack yours and set " + envAssets + " to the directory that holds etcd, kube-apiserver and kubectl, or use what operon setup-envtest use prints")

func sideload(io.Writer, io.Writer, string) error { return errSideload }

func (o *options) store() (store, error) {
	dir := o.binDir
	if dir == "" {
		var err error
		if dir, err = envtest.SetupEnvtestDefaultBinaryAssetsDirectory(); err != nil {
			return store{}, fmt.Errorf("no directory for the store (%w): give --bin-dir", err)
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return store{}, fmt.Errorf("--bin-dir %s: %w", o.binDir, err)
	}
	executable, err := os.Executable()
	if err != nil {
		return store{}, fmt.Errorf("the path of this binary: %w", err)
	}
	executable, err = filepath.EvalSymlinks(executable)
	return store{dir: filepath.Join(dir, "k8s"), executable: executable}, err
}

// ownNumber is the version of Kubernetes in this binary.
func ownNumber() number {
	n, ok := parseNumber(kubeversion.Version)
	if !ok {
		panic("version of Kubernetes is " + kubeversion.Version)
	}
	return n
}
