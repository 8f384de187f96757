package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/cmd/operon/cluster/apiserver"
	"github.com/operon-dev/operon/cmd/operon/cluster/controllers"
	"github.com/operon-dev/operon/cmd/operon/cluster/datadir"
	"github.com/operon-dev/operon/cmd/operon/cluster/etcd"
	"github.com/operon-dev/operon/cmd/operon/cluster/kubeconfig"
	"github.com/operon-dev/operon/cmd/operon/cluster/nodes"
	"github.com/operon-dev/operon/cmd/operon/cluster/pki"
	"github.com/operon-dev/operon/cmd/operon/cluster/scheduler"
	"github.com/operon-dev/operon/cmd/operon/cluster/seed"
	"github.com/operon-dev/operon/cmd/operon/kubeversion"
)

const (
	// startTimeout bounds a start that hangs; one that works takes a second or two.
	startTimeout = 2 * time.Minute
	// stopTimeout is how long Stop waits for everything but the store, which comes last.
	stopTimeout = 500 * time.Millisecond
)

var servingNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}

// services is the network from which services get their addresses; its first address is that of the service "kubernetes".
var services = &net.IPNet{IP: net.IPv4(10, 96, 0, 0).To4(), Mask: net.CIDRMask(16, 32)}

// Cluster is a running control plane.
type Cluster struct {
	opts       Options
	dir        *datadir.Dir
	listener   net.Listener
	keys       *pki.PKI
	store      *etcd.Server
	api        *apiserver.Server
	set        *controllers.Set
	kubeconfig *kubeconfig.Undo

	cancel    context.CancelFunc
	running   sync.WaitGroup
	failed    chan struct{}
	failOnce  sync.Once
	failure   error
	waitSched func()
}

// Start brings a cluster up and returns when it can be used. ctx bounds the start only; Stop ends the cluster.
// The error's text is one sentence meant for the person who asked for the cluster.
func Start(ctx context.Context, opts Options) (_ *Cluster, err error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	c := &Cluster{opts: opts, failed: make(chan struct{})}
	if opts.Kubeconfig != "" {
		if c.opts.Kubeconfig, err = filepath.Abs(opts.Kubeconfig); err != nil {
			return nil, fmt.Errorf("kubeconfig %s: %w", opts.Kubeconfig, err)
		}
		if err := kubeconfig.Check(c.opts.Kubeconfig); err != nil {
			return nil, err
		}
	}
	if c.dir, err = datadir.Open(opts.DataDir); err != nil {
		return nil, err
	}
	if c.opts.Kubeconfig == "" {
		c.opts.Kubeconfig = c.dir.Join("kubeconfig")
	}
	if c.listener, err = listen(opts.Port, c.dir.Port()); err != nil {
		c.dir.Discard()
		return nil, err
	}
	running, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	defer func() {
		if err != nil {
			c.stop(true)
		}
	}()
	start, done := context.WithTimeout(ctx, startTimeout)
	defer done()
	if err := c.bringUp(start, running); err != nil {
		return nil, c.explain(ctx, start, err)
	}
	return c, nil
}

// explain turns the error of a start into the sentence that says most about its reason.
func (c *Cluster) explain(asked, start context.Context, err error) error {
	select {
	case <-c.failed:
		return c.failure
	default:
	}
	switch {
	case asked.Err() != nil:
		return context.Cause(asked)
	case start.Err() != nil:
		return fmt.Errorf("the cluster did not become ready within %s: look at the components' messages with -v 2", startTimeout)
	}
	return err
}

func (c *Cluster) bringUp(ctx, running context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		// A component that fails ends the wait for the others.
		select {
		case <-c.failed:
			cancel()
		case <-ctx.Done():
		}
	}()

	c.progress("keys and store")
	if err := c.openState(ctx); err != nil {
		return err
	}
	c.progress("API server")
	if err := c.serve(ctx, running); err != nil {
		return err
	}
	if !c.opts.APIOnly {
		c.progress("controllers, scheduler and nodes")
	}
	if err := c.populate(ctx, running); err != nil {
		return err
	}
	var err error
	c.kubeconfig, err = kubeconfig.Write(c.opts.Kubeconfig, kubeconfig.Entry{
		Server: c.URL(), CACert: c.keys.CACert, ClientCert: c.keys.AdminCert, ClientKey: c.keys.AdminKey,
	})
	return err
}

// openState loads or makes the keys and the store, and gives a new store its first objects.
func (c *Cluster) openState(ctx context.Context) error {
	if err := c.dir.Whole("pki", "etcd"); err != nil {
		return err
	}
	var objects map[string][]byte
	work, either := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		first := make(net.IP, 4)
		copy(first, services.IP)
		first[3]++
		c.keys, err = pki.Ensure(c.dir.Join("pki"), servingNames, []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, first})
		if err != nil {
			return fmt.Errorf("keys in %s cannot be used (%w): restore them from a copy, or remove the data directory to begin anew", c.dir.Join("pki"), err)
		}
		return nil
	})
	work.Go(func() (err error) {
		c.store, err = etcd.Start(either, etcd.Config{
			Dir: c.dir.Join("etcd"), SocketDir: c.dir.Join("run"), Durable: !c.dir.Temporary, Logger: c.opts.StoreLogger,
		})
		return err
	})
	if c.dir.Fresh {
		work.Go(func() (err error) {
			objects, err = seed.Objects(services)
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return err
	}
	c.running.Go(func() {
		select {
		case <-c.store.Failed():
			c.fail(fmt.Errorf("the cluster cannot go on: %w", c.store.Err()))
		case <-c.failed:
		}
	})
	if c.dir.Fresh {
		if err := c.store.Put(ctx, objects); err != nil {
			return err
		}
	}
	return c.dir.Mark(kubeversion.Version)
}

// serve runs the API server and returns when it answers.
func (c *Cluster) serve(ctx, running context.Context) error {
	serving, err := tls.X509KeyPair(c.keys.ServingCert, c.keys.ServingKey)
	if err != nil {
		return fmt.Errorf("API server: %w", err)
	}
	kubelet := nodes.NewKubelet(serving)
	api, err := apiserver.New(running, apiserver.Config{
		Listener: c.listener, PKI: c.keys, Etcd: c.store.Endpoint(), Services: services,
		DialKubelet: kubelet.Dial, Closed: nodes.Networks(),
		NoServiceAccounts: c.opts.APIOnly, Args: c.opts.APIServerArgs,
		// Another version may want other roles.
		Seeded: c.dir.Fresh || c.dir.Kubernetes == kubeversion.Version,
	})
	var bad *apiserver.ArgError
	if errors.As(err, &bad) {
		return err
	}
	if err != nil {
		return fmt.Errorf("API server: %w", err)
	}
	c.api = api
	c.running.Go(func() {
		if err := kubelet.Run(running); err != nil {
			c.fail(fmt.Errorf("simulated kubelet: %w", err))
		}
	})
	c.running.Go(func() {
		err := api.Run(running)
		if running.Err() == nil {
			c.fail(fmt.Errorf("the API server ended: %w", err))
		}
	})
	select {
	case <-api.Serving():
		return c.dir.SetPort(c.Port())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// populate starts what works through the API and returns when a user's work would succeed.
func (c *Cluster) populate(ctx, running context.Context) error {
	config := c.api.Loopback()
	if c.opts.APIOnly {
		return c.awaitReady(ctx, config)
	}
	if c.opts.RunNodes != nil && c.opts.Nodes > 0 {
		c.running.Go(func() {
			err := c.opts.RunNodes(running, rest.CopyConfig(config), c.opts.Nodes)
			if err != nil && running.Err() == nil {
				c.fail(fmt.Errorf("simulated nodes: %w", err))
			}
		})
	}
	var set *controllers.Set
	var waitSched func()
	work, either := errgroup.WithContext(ctx)
	work.Go(func() (err error) {
		set, err = controllers.Start(running, config, c.keys)
		return err
	})
	work.Go(func() (err error) {
		waitSched, err = scheduler.Start(running, config)
		return err
	})
	work.Go(func() error { return c.awaitReady(either, config) })
	done := make(chan error, 1)
	go func() { done <- work.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		// Components that wait for caches end with the cluster, not with the start.
		c.cancel()
		select {
		case err = <-done:
			err = errors.Join(ctx.Err(), err)
		case <-time.After(stopTimeout):
			// One that gave up when it was stopped does not return; see componentExits.
			return ctx.Err()
		}
	}
	c.set, c.waitSched = set, waitSched
	return err
}

// URL is the API server's address.
func (c *Cluster) URL() string {
	return "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port()))
}

// Port is the API server's port.
func (c *Cluster) Port() int { return c.listener.Addr().(*net.TCPAddr).Port }

// Kubeconfig is the absolute path of the file that Start wrote.
func (c *Cluster) Kubeconfig() string { return c.opts.Kubeconfig }

// DataDir is the absolute path of the directory that holds the state.
func (c *Cluster) DataDir() string { return c.dir.Path }

// Config reaches the cluster as its administrator, with the client certificate of the kubeconfig.
func (c *Cluster) Config() *rest.Config {
	return &rest.Config{
		Host: c.URL(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.keys.CACert, CertData: c.keys.AdminCert, KeyData: c.keys.AdminKey,
		},
	}
}

// Failed is closed when the cluster cannot go on. Err then says why.
func (c *Cluster) Failed() <-chan struct{} { return c.failed }

// Err is the reason why Failed was closed; it may be called only after that.
func (c *Cluster) Err() error { return c.failure }

func (c *Cluster) fail(err error) {
	c.failOnce.Do(func() {
		c.failure = err
		close(c.failed)
	})
}

func (c *Cluster) progress(step string) {
	if c.opts.Progress != nil {
		c.opts.Progress(step)
	}
}
