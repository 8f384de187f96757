package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/internal/testing/process"
)

// administrator may do anything.
var administrator = User{Name: "admin", Groups: []string{"system:masters"}}

// ErrNotTogether says that an etcd and a kube-apiserver that run as programs of their own cannot be reset.
var ErrNotTogether = errors.New("only a control plane that the operon command runs can be reset: leave out what asks for programs of their own")

// signTimeout bounds how long a user's certificate takes.
const signTimeout = 10 * time.Second

// Options say what a control plane is to be, beyond what its API server and its
// store are. The zero value is an API server and its store, alone.
type Options struct {
	// AssetsDir is where programs are, unless KUBEBUILDER_ASSETS says otherwise.
	AssetsDir string
	// Controllers runs Kubernetes' controllers and scheduler.
	Controllers bool
	// Nodes is the number of simulated nodes. More than none come with controllers.
	Nodes int
	// Shared borrows a control plane that runs already, and starts one that outlives this process where there is none.
	Shared bool
	// StartTimeout and StopTimeout bound how long starting and stopping may take. Zero means 20 s.
	StartTimeout, StopTimeout time.Duration
	// Output receives what the control plane logs. Nil drops it.
	Output io.Writer
}

func (o Options) stopTimeout() time.Duration { return orDefault(o.StopTimeout) }

// onlyTogether names what was asked for that only the operon command can do, or is empty.
func (o Options) onlyTogether() string {
	switch {
	case o.Controllers:
		return "Controllers"
	case o.Nodes > 0:
		return "Nodes"
	case o.Shared:
		return "Shared"
	}
	return ""
}

// ControlPlane is an API server and its store. The zero value chooses everything
// by itself. One goroutine uses it at a time.
type ControlPlane struct {
	// APIServer is how the API server is to be. Nil leaves everything open.
	APIServer *APIServer
	// Etcd is how the store is to be. Nil leaves everything open; anything else runs etcd as a program of its own.
	Etcd *Etcd
	// KubectlPath is the kubectl binary. Empty means the one that is found through
	// TEST_ASSET_KUBECTL and KUBEBUILDER_ASSETS, and the operon command otherwise.
	KubectlPath string

	options Options
	running *together
	// asked is where the API server was asked to listen.
	asked   process.ListenAddr
	apart   bool
	waiting []*AuthenticatedUser
	scratch scratch
}

// Start starts the control plane and returns when it can be used.
func (f *ControlPlane) Start() error { return f.StartWith(Options{}) }

// StartWith is Start with options.
func (f *ControlPlane) StartWith(o Options) (err error) {
	if f.running != nil || f.apart {
		return errors.New("the control plane is already started")
	}
	f.options = o
	switch apart, only := f.onlyApart(), o.onlyTogether(); {
	case apart != "" && only != "" && !fromOutside(apart):
		return fmt.Errorf("%s needs the operon command to run the control plane, and %s needs an API server and an etcd of their own: leave out one of the two", only, apart)
	case apart != "" && only == "":
		err = f.startApart()
	default:
		err = f.startTogether()
	}
	if err != nil {
		return err
	}
	for _, u := range f.waiting {
		if u.cfg, err = f.credentials(u.user, u.base); err != nil {
			return errors.Join(err, f.Stop())
		}
	}
	f.waiting = nil
	return nil
}

// onlyApart names the setting that needs programs of their own, or is empty.
func (f *ControlPlane) onlyApart() string {
	if named := programsNamed(f.options.AssetsDir); named != "" {
		return named
	}
	if f.Etcd.touched() {
		return "Etcd"
	}
	return f.APIServer.onlyApart()
}

// fromOutside says whether a setting tells where programs are in general. Who
// asks for what only the operon command can do does not mean those.
func fromOutside(setting string) bool {
	return setting == envAssets || setting == "BinaryAssetsDirectory" ||
		setting == envAssetPrefix+"KUBE_APISERVER" || setting == envAssetPrefix+"ETCD"
}

func (f *ControlPlane) startTogether() error {
	binary, err := findOperon(f.options.AssetsDir)
	if err != nil {
		return err
	}
	// Building the command does not count.
	ctx, cancel := context.WithTimeout(context.Background(), orDefault(f.options.StartTimeout))
	defer cancel()
	args := f.options.arguments(f.APIServer)
	if f.options.Shared {
		f.running, err = borrow(ctx, binary, args)
	} else {
		f.running, err = startChild(ctx, binary, args, f.options)
	}
	if err != nil {
		return err
	}
	address, err := url.Parse(f.running.admin.Host)
	if err != nil {
		return errors.Join(err, f.Stop())
	}
	f.scratch.below = f.running.dir
	s := f.GetAPIServer()
	f.asked = s.ListenAddr
	s.Address, s.Port, s.CA = address.Hostname(), address.Port(), f.running.admin.CAData
	return nil
}

func (f *ControlPlane) startApart() error {
	o := f.options
	if f.Etcd == nil {
		f.Etcd = &Etcd{}
	}
	s, e := f.GetAPIServer(), f.Etcd
	s.assets, e.assets = o.AssetsDir, o.AssetsDir
	for _, timeout := range []struct {
		set  *time.Duration
		from time.Duration
	}{{&s.StartTimeout, o.StartTimeout}, {&e.StartTimeout, o.StartTimeout}, {&s.StopTimeout, o.StopTimeout}, {&e.StopTimeout, o.StopTimeout}} {
		if *timeout.set == 0 {
			*timeout.set = timeout.from
		}
	}
	if o.Output != nil {
		for _, out := range []*io.Writer{&s.Out, &s.Err, &e.Out, &e.Err} {
			if *out == nil {
				*out = o.Output
			}
		}
	}
	if err := e.Start(); err != nil {
		return err
	}
	s.EtcdURL = e.URL
	if err := s.Start(); err != nil {
		return errors.Join(err, e.Stop())
	}
	f.apart = true
	return nil
}

// Stop ends the control plane, or gives back one that was borrowed, and removes
// what it needed. Stopping what does not run does nothing.
func (f *ControlPlane) Stop() error {
	err := f.scratch.remove()
	f.scratch.below = ""
	switch {
	case f.running != nil:
		err = errors.Join(err, f.running.link.close(f.options.stopTimeout()))
		f.running, f.APIServer.ListenAddr = nil, f.asked
	case f.apart:
		err = errors.Join(err, f.APIServer.Stop(), f.Etcd.Stop())
		f.apart = false
	}
	return err
}

// TempDir returns a directory for files that go when the control plane stops or this process is killed. It can be
// had after Start.
func (f *ControlPlane) TempDir() (string, error) {
	if f.running == nil && !f.apart {
		return "", ErrNotStarted
	}
	return f.scratch.path()
}

// Mark makes the present state the one to which Reset goes back. Where the
// control plane cannot be reset, it is ErrNotTogether.
func (f *ControlPlane) Mark(ctx context.Context) error { return f.orderOf(ctx, "mark") }

// Reset makes every object what it was at the last Mark. Where the control
// plane cannot be reset, it is ErrNotTogether.
func (f *ControlPlane) Reset(ctx context.Context) error { return f.orderOf(ctx, "reset") }

func (f *ControlPlane) orderOf(ctx context.Context, order string) error {
	switch {
	case f.running != nil:
		_, err := f.running.order(ctx, order)
		return err
	case f.apart:
		return ErrNotTogether
	}
	return ErrNotStarted
}

// GetAPIServer returns APIServer, and makes it where it is nil.
func (f *ControlPlane) GetAPIServer() *APIServer {
	if f.APIServer == nil {
		f.APIServer = &APIServer{}
	}
	return f.APIServer
}

// AddUser makes a user whom the API server accepts. base may be nil; what it says, other than whom to reach and as whom, is kept. It may be
// called before Start; the user can be used after it.
func (f *ControlPlane) AddUser(user User, base *rest.Config) (*AuthenticatedUser, error) {
	u := &AuthenticatedUser{plane: f, user: user, base: base}
	if user.Name == "" {
		return nil, errors.New("a user needs a name")
	}
	if f.running == nil && !f.apart {
		f.waiting = append(f.waiting, u)
		return u, nil
	}
	cfg, err := f.credentials(user, base)
	if err != nil {
		return nil, err
	}
	u.cfg = cfg
	return u, nil
}

func (f *ControlPlane) credentials(user User, base *rest.Config) (*rest.Config, error) {
	if f.running == nil {
		return f.APIServer.AddUser(user, f.APIServer.reach(base))
	}
	ctx, cancel := context.WithTimeout(context.Background(), signTimeout)
	defer cancel()
	return f.running.user(ctx, user, base)
}

// Admin returns the configuration of a user who may do anything, on top of base.
func (f *ControlPlane) Admin(base *rest.Config) (*rest.Config, error) {
	u, err := f.AddUser(administrator, base)
	if err != nil {
		return nil, err
	}
	return u.Config(), nil
}

// APIURL is where the API server serves.
//
// Deprecated: use AddUser.
func (f *ControlPlane) APIURL() *url.URL { return f.GetAPIServer().SecureServing.URL("https", "") }

// RESTClientConfig returns the configuration of a user who may do anything.
//
// Deprecated: use AddUser.
func (f *ControlPlane) RESTClientConfig() (*rest.Config, error) {
	if f.running == nil && !f.apart {
		return nil, ErrNotStarted
	}
	return f.Admin(nil)
}

// KubeCtl returns a kubectl that may do anything. Panics before the control plane is started.
//
// Deprecated: use AddUser.
func (f *ControlPlane) KubeCtl() *KubeCtl {
	u, err := f.AddUser(administrator, nil)
	if err != nil {
		panic(err)
	}
	kubectl, err := u.Kubectl()
	if err != nil {
		panic(err)
	}
	return kubectl
}

// kubectl returns a binary that is kubectl whatever it is called with.
func (f *ControlPlane) kubectl() (string, error) {
	found, err := findProgram("kubectl", f.KubectlPath, f.options.AssetsDir)
	if err != nil || !found.operon {
		return found.path, err
	}
	dir, err := f.TempDir()
	if err != nil {
		return "", err
	}
	link := filepath.Join(dir, "kubectl")
	if err := os.Symlink(found.path, link); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return link, nil
}
