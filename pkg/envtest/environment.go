package envtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client/config"
	"github.com/operon-dev/operon/pkg/internal/testing/controlplane"
)

// Environment variables that stand in for fields of [Environment] left at
// their zero value.
const (
	envUseExisting  = "USE_EXISTING_CLUSTER"
	envStartTimeout = "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT"
	envStopTimeout  = "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT"
	envAttachOutput = "KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT"
	envShared       = "OPERON_ENVTEST_SHARED"
)

// The seconds a control plane may take to start, and to stop.
const (
	StartTimeout = 60
	StopTimeout  = 60
)

// Environment is a control plane for tests. The zero value starts an API server
// and its store, without controllers and nodes. An Environment is used by one
// goroutine at a time; the configuration it returns may be used by any number.
type Environment struct {
	// ControlPlane says how the API server and its store are to be, where that
	// matters: ControlPlane.GetAPIServer().Configure() returns the API server's flags.
	ControlPlane controlplane.ControlPlane

	// Scheme is asked whether a CustomResourceDefinition's kind converts by hub and
	// spokes, in which case Start points its conversion at the local webhook
	// server. Nil means the scheme of client-go, which Start fills in.
	Scheme *runtime.Scheme

	// Config is what talks to the API server, as a user who may do anything.
	// Start fills it in, and keeps what a Config given here says other than whom to reach
	// and as whom. With UseExistingCluster a Config given here is used as it is.
	Config *rest.Config

	// KubeConfig is a kubeconfig file's content with which other programs are
	// the user of Config. Start fills it in; with UseExistingCluster, one given
	// here stays.
	KubeConfig []byte

	// CRDInstallOptions say which CustomResourceDefinitions Start installs, and how.
	CRDInstallOptions CRDInstallOptions

	// WebhookInstallOptions say which webhooks Start installs, and where they are served.
	WebhookInstallOptions WebhookInstallOptions

	// ErrorIfCRDPathMissing makes Start fail when a path in CRDDirectoryPaths
	// does not exist. Without it such a path is passed over.
	ErrorIfCRDPathMissing bool

	// CRDs are installed by Start, besides those in CRDInstallOptions.
	CRDs []*apiextensionsv1.CustomResourceDefinition

	// CRDDirectoryPaths name files, or directories of files, with
	// CustomResourceDefinitions in YAML or JSON. They are installed by Start,
	// besides the paths in CRDInstallOptions.
	CRDDirectoryPaths []string

	// DownloadBinaryAssets downloads an etcd, a kube-apiserver and a kubectl and
	// runs those, instead of the operon command. They are put into
	// BinaryAssetsDirectory, or into a temporary directory that Stop removes.
	DownloadBinaryAssets bool

	// DownloadBinaryAssetsVersion is the version to download, as in "v1.33.0".
	// Empty means the latest that is not a preview.
	DownloadBinaryAssetsVersion string

	// DownloadBinaryAssetsIndexURL says where the index of downloads is. Empty
	// means [DefaultBinaryAssetsIndexURL].
	DownloadBinaryAssetsIndexURL string

	// BinaryAssetsDirectory holds an etcd, a kube-apiserver and a kubectl to run instead of
	// the operon command. One that holds no kube-apiserver, or the operon
	// command besides, makes no difference. The environment variable
	// KUBEBUILDER_ASSETS comes before it, and TEST_ASSET_ETCD,
	// TEST_ASSET_KUBE_APISERVER and TEST_ASSET_KUBECTL, which name
	// one binary each, before that.
	BinaryAssetsDirectory string

	// UseExistingCluster makes Start use the cluster that Config or, when that
	// is nil, the usual kubeconfig names, and start nothing. Nil means the
	// value of the environment variable USE_EXISTING_CLUSTER, or false.
	UseExistingCluster *bool

	// ControlPlaneStartTimeout bounds how long the control plane may take to
	// start. Zero means the environment variable
	// KUBEBUILDER_CONTROLPLANE_START_TIMEOUT (as in "90s"), or [StartTimeout] seconds.
	ControlPlaneStartTimeout time.Duration

	// ControlPlaneStopTimeout bounds how long the control plane may take to
	// stop before it is killed. Zero means the environment variable
	// KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT, or [StopTimeout] seconds.
	ControlPlaneStopTimeout time.Duration

	// AttachControlPlaneOutput copies what the control plane logs to the
	// standard error of this process. The environment variable
	// KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT, when true, does the same.
	AttachControlPlaneOutput bool

	// Controllers runs Kubernetes' controllers and scheduler besides the API
	// server: owned objects are garbage collected, namespaces go when they are
	// deleted, deployments make pods. It needs the operon command, whatever
	// KUBEBUILDER_ASSETS says.
	Controllers bool

	// Nodes is the number of simulated nodes, on which pods become ready. More
	// than none come with Controllers. Zero means none: pods stay pending.
	Nodes int

	// Shared takes a control plane that runs already and that nobody uses at the
	// moment, in the state in which it was started; where there is none it starts one, which
	// outlives this process by a minute for those who come next. Test
	// packages that run one after the other so pay for one start. The environment
	// variable OPERON_ENVTEST_SHARED, when true, does the same. It has no effect on
	// control planes that the operon command does not run.
	Shared bool

	started bool
	// given is the Config that Start was given.
	given     *rest.Config
	downloads string
}

// Start brings the cluster up, installs CustomResourceDefinitions and webhooks
// and returns the configuration of an administrator, whose Host ends in a slash. A second Start without a
// Stop between is an error.
func (e *Environment) Start() (*rest.Config, error) {
	if e.started {
		return nil, errors.New("test environment is already started")
	}
	existing, err := e.useExistingCluster()
	if err != nil {
		return nil, err
	}
	// What is wrong with the files is said before anything is started.
	if err := e.read(); err != nil {
		return nil, err
	}
	e.given = e.Config
	if existing {
		err = e.connect()
	} else {
		err = e.launch()
	}
	if err != nil {
		return nil, err
	}
	e.started = true
	if err := e.install(); err != nil {
		return nil, errors.Join(err, e.shutdown())
	}
	if !existing {
		err := e.mark()
		if err != nil && !errors.Is(err, controlplane.ErrNotTogether) {
			return nil, errors.Join(err, e.shutdown())
		}
	}
	return e.Config, nil
}

// read reads the files that the fields name.
func (e *Environment) read() error {
	crds := &e.CRDInstallOptions
	all := CRDInstallOptions{
		CRDs:               append(slices.Clone(crds.CRDs), e.CRDs...),
		Paths:              append(slices.Clone(crds.Paths), e.CRDDirectoryPaths...),
		ErrorIfPathMissing: crds.ErrorIfPathMissing || e.ErrorIfCRDPathMissing,
	}
	if err := ReadCRDFiles(&all); err != nil {
		return err
	}
	if err := e.WebhookInstallOptions.readPaths(); err != nil {
		return err
	}
	// What was merged is taken away from its first place: a second Start must not install it twice.
	crds.CRDs, crds.Paths, crds.ErrorIfPathMissing = all.CRDs, nil, all.ErrorIfPathMissing
	e.CRDs, e.CRDDirectoryPaths = nil, nil
	return nil
}

// install installs what the fields ask for.
func (e *Environment) install() error {
	crds := &e.CRDInstallOptions
	if e.Scheme == nil {
		e.Scheme = scheme.Scheme
	}
	if crds.Scheme == nil {
		crds.Scheme = e.Scheme
	}
	if err := e.placeCertificates(); err != nil {
		return err
	}
	if err := e.WebhookInstallOptions.PrepWithoutInstalling(); err != nil {
		return err
	}
	crds.WebhookOptions = e.WebhookInstallOptions
	installed, err := InstallCRDs(e.Config, *crds)
	if err != nil {
		return err
	}
	crds.CRDs = installed
	return e.WebhookInstallOptions.Install(e.Config)
}

// placeCertificates has the webhook server's certificates made where they go
// with the control plane, even if this process is killed.
func (e *Environment) placeCertificates() error {
	o := &e.WebhookInstallOptions
	if o.LocalServingCertDir != "" || len(o.LocalServingCAData) > 0 {
		return nil
	}
	dir, err := e.ControlPlane.TempDir()
	if errors.Is(err, controlplane.ErrNotStarted) {
		return nil
	}
	if err != nil {
		return err
	}
	o.temporary, err = os.MkdirTemp(dir, certDirPrefix)
	o.LocalServingCertDir = o.temporary
	return err
}

// Stop ends the control plane and waits for it, or gives it back if it is
// shared. In an existing cluster it removes the CustomResourceDefinitions
// instead, if CRDInstallOptions.CleanUpAfterUse asks for it. Stopping what was
// not started does nothing.
func (e *Environment) Stop() error {
	var err error
	if e.CRDInstallOptions.CleanUpAfterUse && e.Config != nil {
		err = UninstallCRDs(e.Config, e.CRDInstallOptions)
	}
	return errors.Join(err, e.shutdown())
}

// Reset makes every object in the cluster what it was when Start returned: what
// was created since is gone, what was changed or deleted is back, with its UID.
// It takes milliseconds, asks neither finalizers nor webhooks, and is for a
// moment at which the test's own controllers are stopped. Caches and
// watches see the changes as they see any.
//
// It is an error where the operon command does not run the control plane.
func (e *Environment) Reset(ctx context.Context) error {
	if err := e.ControlPlane.Reset(ctx); err != nil {
		return fmt.Errorf("reset the test environment: %w", err)
	}
	return nil
}

func (e *Environment) mark() error {
	timeout, err := e.startTimeout()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return e.ControlPlane.Mark(ctx)
}

// AddUser makes a user whom the API server accepts, with the groups given. What
// baseConfig says, other than whom to reach and as whom, is kept; it may be
// nil. It may be called before Start; the user can be used after it.
func (e *Environment) AddUser(user User, baseConfig *rest.Config) (*AuthenticatedUser, error) {
	return e.ControlPlane.AddUser(user, baseConfig)
}

func (e *Environment) useExistingCluster() (bool, error) {
	if e.UseExistingCluster != nil {
		return *e.UseExistingCluster, nil
	}
	return boolFromEnv(envUseExisting)
}

func (e *Environment) connect() error {
	cfg := e.Config
	if cfg == nil {
		var err error
		if cfg, err = config.GetConfig(); err != nil {
			return fmt.Errorf("configuration of the existing cluster: %w", err)
		}
	}
	if len(e.KubeConfig) == 0 {
		var err error
		if e.KubeConfig, err = controlplane.KubeConfigFromREST(cfg); err != nil {
			return fmt.Errorf("kubeconfig for the existing cluster: %w", err)
		}
	}
	e.Config = cfg
	return nil
}

func (e *Environment) launch() error {
	options, err := e.options()
	if err != nil {
		return err
	}
	if e.DownloadBinaryAssets {
		if err := e.download(); err != nil {
			return err
		}
	}
	if err := e.ControlPlane.StartWith(options); err != nil {
		return errors.Join(err, e.removeDownloads())
	}
	cfg, err := e.ControlPlane.Admin(e.Config)
	if err != nil {
		return errors.Join(err, e.shutdown())
	}
	if e.given == nil {
		// The server is this test's own: there is nobody to be spared by a client-side limit.
		cfg.QPS = -1
	}
	if e.KubeConfig, err = controlplane.KubeConfigFromREST(cfg); err != nil {
		return errors.Join(err, e.shutdown())
	}
	e.Config = cfg
	return nil
}

func (e *Environment) options() (controlplane.Options, error) {
	o := controlplane.Options{AssetsDir: e.BinaryAssetsDirectory, Controllers: e.Controllers, Nodes: e.Nodes, Shared: e.Shared}
	var err error
	if o.StartTimeout, err = e.startTimeout(); err != nil {
		return o, err
	}
	if o.StopTimeout, err = durationFromEnv(e.ControlPlaneStopTimeout, envStopTimeout, StopTimeout*time.Second); err != nil {
		return o, err
	}
	attach, err := boolFromEnv(envAttachOutput)
	if err != nil {
		return o, err
	}
	if attach || e.AttachControlPlaneOutput {
		o.Output = io.Writer(os.Stderr)
	}
	shared, err := boolFromEnv(envShared)
	o.Shared = o.Shared || shared
	return o, err
}

func (e *Environment) startTimeout() (time.Duration, error) {
	return durationFromEnv(e.ControlPlaneStartTimeout, envStartTimeout, StartTimeout*time.Second)
}

func (e *Environment) shutdown() error {
	err := errors.Join(e.WebhookInstallOptions.Cleanup(), e.ControlPlane.Stop(), e.removeDownloads())
	if e.started {
		e.Config, e.given, e.KubeConfig = e.given, nil, nil
	}
	e.started = false
	return err
}

func boolFromEnv(name string) (bool, error) {
	value := os.Getenv(name)
	if value == "" {
		return false, nil
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("environment variable %s: %q is neither true nor false", name, value)
	}
	return b, nil
}

func durationFromEnv(set time.Duration, name string, otherwise time.Duration) (time.Duration, error) {
	if set != 0 {
		return set, nil
	}
	value := os.Getenv(name)
	if value == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return 0, fmt.Errorf("environment variable %s: %q is not a duration, as 90s is", name, value)
	}
	return d, nil
}
