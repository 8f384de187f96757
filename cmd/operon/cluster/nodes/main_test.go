package nodes_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/operon-dev/operon/cmd/operon/cluster/nodes"
	"github.com/operon-dev/operon/pkg/envtest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const nodeCount = 3

// cluster is a control plane without nodes of its own, on which this process runs the nodes.
type cluster struct {
	env        envtest.Environment
	config     *rest.Config
	kubeconfig string
	kubernetes.Interface

	stop func() error
	// atOnce is how long the nodes took to be ready.
	atOnce time.Duration
}

var (
	shared     *cluster
	sharedErr  error
	sharedOnce sync.Once
)

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		if err := shared.close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// start returns the cluster of all tests, and a namespace for this one.
func start(t *testing.T) (*cluster, string) {
	t.Helper()
	if os.Getenv("OPERON") == "" {
		t.Skip("needs an API server: OPERON does not name the operon command")
	}
	sharedOnce.Do(func() { shared, sharedErr = open() })
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	ns, err := shared.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Not waited for: the next test has a namespace of its own.
		if err := shared.CoreV1().Namespaces().Delete(context.Background(), ns.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return shared, ns.Name
}

func open() (*cluster, error) {
	c := &cluster{env: envtest.Environment{Controllers: true}}
	var err error
	if c.config, err = c.env.Start(); err != nil {
		return nil, err
	}
	c.config.QPS = -1
	if c.Interface, err = kubernetes.NewForConfig(c.config); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "nodes")
	if err != nil {
		return nil, err
	}
	c.kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(c.kubeconfig, c.env.KubeConfig, 0o600); err != nil {
		return nil, err
	}
	return c, c.runNodes(nodeCount)
}

// runNodes runs the nodes until stop is called, and returns when they are ready.
func (c *cluster) runNodes(count int) error {
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	began := time.Now()
	go func() {
		ended <- nodes.Run(ctx, c.config, nodes.Options{Count: count, OnReady: func() { close(ready) }})
	}()
	c.stop = func() error {
		cancel()
		return <-ended
	}
	select {
	case <-ready:
		c.atOnce = time.Since(began)
		return nil
	case err := <-ended:
		return fmt.Errorf("nodes ended: %w", err)
	case <-time.After(20 * time.Second):
		return fmt.Errorf("nodes not ready: %w", c.stop())
	}
}

func (c *cluster) close() error {
	if err := c.stop(); err != nil {
		return err
	}
	_ = os.RemoveAll(filepath.Dir(c.kubeconfig))
	return c.env.Stop()
}

// await returns when done says so. It asks at first and then whenever anything that tests wait for changes in the namespace.
func (c *cluster) await(t *testing.T, ns, what string, done func(ctx context.Context) (bool, string)) {
	t.Helper()
	apps := c.AppsV1()
	await(t, time.Minute, what, done, c.CoreV1().Pods(ns).Watch, c.CoreV1().Events(ns).Watch, c.BatchV1().Jobs(ns).Watch, c.CoreV1().Nodes().Watch,
		apps.Deployments(ns).Watch, apps.StatefulSets(ns).Watch, apps.DaemonSets(ns).Watch)
}

type watchFunc = func(context.Context, metav1.ListOptions) (watch.Interface, error)

func await(t *testing.T, limit time.Duration, what string, done func(ctx context.Context) (bool, string), watches ...watchFunc) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	changed := make(chan struct{}, 1)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	for _, open := range watches {
		watching.Go(func() {
			for ctx.Err() == nil {
				follow(ctx, open, changed)
			}
		})
	}
	for {
		ok, state := done(ctx)
		if ok {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%s: not within %s; last seen: %s", what, limit, state)
		}
	}
}

// follow tells changed of every event of a watch, and of its beginning, until it ends, as it does when the API server finds
// that it is too slow.
func follow(ctx context.Context, open watchFunc, changed chan<- struct{}) {
	w, err := open(ctx, metav1.ListOptions{})
	if err != nil {
		time.Sleep(10 * time.Millisecond) // ctx is over, or the server is overwhelmed
		return
	}
	defer w.Stop()
	for more := true; more; {
		select {
		case changed <- struct{}{}:
		default:
		}
		select {
		case <-ctx.Done():
			return
		case _, more = <-w.ResultChan():
		}
	}
}
