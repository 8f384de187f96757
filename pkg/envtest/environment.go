package envtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/operon-dev/operon/pkg/client/config"
)

// Environment variables that stand in for fields of [Environment] left at
// their zero value.
const (
	envBinary       = "OPERON"
	envUseExisting  = "USE_EXISTING_CLUSTER"
	envStartTimeout = "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT"
	envStopTimeout  = "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT"
	envAttachOutput = "KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT"
)

// The seconds a control plane may take to start, and to stop.
const (
	StartTimeout = 60
	StopTimeout  = 60
)

// Environment is a control plane for tests. The zero value starts an empty
// cluster without nodes. An Environment is used by one goroutine at a time;
// the configuration it returns may be used by any number.
type Environment struct {
	// Config is what talks to the API server. Start fills it in, unless
	// UseExistingCluster is set, when a Config given here is used as it is.
	Config *rest.Config

	// KubeConfig is a kubeconfig file's content with which other programs reach
	// the API server. Start fills it in when it starts a control plane.
	KubeConfig []byte

	// CRDInstallOptions say which CustomResourceDefinitions Start installs, and how.
	CRDInstallOptions CRDInstallOptions

	// ErrorIfCRDPathMissing makes Start fail when a path in CRDDirectoryPaths
	// does not exist. Without it such a path is passed over.
	ErrorIfCRDPathMissing bool

	// CRDs are installed by Start, besides those in CRDInstallOptions.
	CRDs []*apiextensionsv1.CustomResourceDefinition

	// CRDDirectoryPaths name files, or directories of files, with
	// CustomResourceDefinitions in YAML or JSON. They are installed by Start,
	// besides the paths in CRDInstallOptions.
	CRDDirectoryPaths []string

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

	// Nodes is the number of simulated nodes. Zero means none: pods are
	// accepted and stay pending.
	Nodes int

	plane *plane
	dir   string
}

// Start brings the cluster up, installs the CustomResourceDefinitions and
// returns the configuration of an administrator. A second Start without a Stop
// between is an error.
func (e *Environment) Start() (*rest.Config, error) {
	if e.plane != nil {
		return nil, errors.New("test environment is already started")
	}
	existing, err := e.useExistingCluster()
	if err != nil {
		return nil, err
	}
	if existing {
		err = e.connect()
	} else {
		err = e.launch()
	}
	if err != nil {
		return nil, err
	}

	e.CRDInstallOptions.CRDs = append(e.CRDInstallOptions.CRDs, e.CRDs...)
	e.CRDInstallOptions.Paths = append(e.CRDInstallOptions.Paths, e.CRDDirectoryPaths...)
	e.CRDInstallOptions.ErrorIfPathMissing = e.CRDInstallOptions.ErrorIfPathMissing || e.ErrorIfCRDPathMissing
	// What was merged is taken away from its first place: a second Start must not install it twice.
	e.CRDs, e.CRDDirectoryPaths = nil, nil
	crds, err := InstallCRDs(e.Config, e.CRDInstallOptions)
	if err != nil {
		return nil, errors.Join(err, e.shutdown())
	}
	e.CRDInstallOptions.CRDs, e.CRDInstallOptions.Paths = crds, nil
	return e.Config, nil
}

// Stop ends the control plane and waits for it. In an existing cluster it
// removes the CustomResourceDefinitions instead, if
// CRDInstallOptions.CleanUpAfterUse asks for it. Stopping what was not
// started does nothing.
func (e *Environment) Stop() error {
	var err error
	if e.CRDInstallOptions.CleanUpAfterUse && e.Config != nil {
		err = UninstallCRDs(e.Config, e.CRDInstallOptions)
	}
	return errors.Join(err, e.shutdown())
}

func (e *Environment) useExistingCluster() (bool, error) {
	if e.UseExistingCluster != nil {
		return *e.UseExistingCluster, nil
	}
	return boolFromEnv(envUseExisting)
}

func (e *Environment) connect() error {
	if e.Config != nil {
		return nil
	}
	cfg, err := config.GetConfig()
	if err != nil {
		return fmt.Errorf("configuration of the existing cluster: %w", err)
	}
	e.Config = cfg
	return nil
}

func (e *Environment) launch() error {
	binary, err := findBinary()
	if err != nil {
		return err
	}
	timeout, err := durationFromEnv(e.ControlPlaneStartTimeout, envStartTimeout, StartTimeout*time.Second)
	if err != nil {
		return err
	}
	attach, err := boolFromEnv(envAttachOutput)
	if err != nil {
		return err
	}
	var logs io.Writer
	if attach || e.AttachControlPlaneOutput {
		logs = os.Stderr
	}
	dir, err := os.MkdirTemp("", "operon-envtest-")
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")

	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	args := []string{"cluster", "--kubeconfig", kubeconfig, "--nodes", strconv.Itoa(e.Nodes), "--stop-on-stdin-eof"}
	p, err := startPlane(ctx, binary, args, logs)
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	e.plane, e.dir = p, dir
	if err := e.load(kubeconfig); err != nil {
		return errors.Join(err, e.shutdown())
	}
	return nil
}

func (e *Environment) load(kubeconfig string) error {
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		return fmt.Errorf("kubeconfig of the control plane: %w", err)
	}
	cfg, err := clientcmd.BuildConfigFromKubeconfigGetter("", func() (*clientcmdapi.Config, error) {
		return clientcmd.Load(content)
	})
	if err != nil {
		return fmt.Errorf("kubeconfig of the control plane: %w", err)
	}
	// The server is this test's own: there is nobody to be spared by a client-side limit.
	cfg.QPS = -1
	e.Config, e.KubeConfig = cfg, content
	return nil
}

func (e *Environment) shutdown() error {
	if e.plane == nil {
		return nil
	}
	timeout, err := durationFromEnv(e.ControlPlaneStopTimeout, envStopTimeout, StopTimeout*time.Second)
	if err != nil {
		// The plane is stopped all the same; the bad setting is reported afterwards.
		timeout = StopTimeout * time.Second
	}
	err = errors.Join(err, e.plane.stop(timeout), os.RemoveAll(e.dir))
	e.plane, e.dir, e.Config, e.KubeConfig = nil, "", nil, nil
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
		return 0, fmt.Errorf("environment variable %s: %w", name, err)
	}
	return d, nil
}
