package manager_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"
)

// plane is a control plane that can be stopped and started again with what it holds.
type plane struct {
	dir  string
	stop func() error
}

// start runs the control plane and returns how to reach it.
func (p *plane) start(t *testing.T) *rest.Config {
	t.Helper()
	kubeconfig := filepath.Join(p.dir, "kubeconfig")
	cmd := exec.Command(os.Getenv("OPERON"), "cluster", "--stop-on-stdin-eof", "--nodes", "0",
		"--data-dir", filepath.Join(p.dir, "data"), "--kubeconfig", kubeconfig)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.stop = func() error {
		if err := stdin.Close(); err != nil {
			return err
		}
		return cmd.Wait()
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "ready") {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				t.Fatal(err)
			}
			config.QPS = -1
			return config
		}
	}
	t.Fatalf("the control plane does not become ready: %v", p.stop())
	return nil
}

func TestAManagerOutlivesARestartOfTheAPIServer(t *testing.T) {
	realServer(t)
	p := &plane{dir: t.TempDir()}
	config := p.start(t)
	ns := namespace(t, config)
	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mgr := newManager(t, config, ctrl.Options{Cache: within(ns)})
	f := follow(t, mgr, "follower")
	stop := start(mgr)
	const objects = 10
	wants(t, direct, ns, objects, 1)
	awaitFollowed(t, direct, ns, objects)

	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	if again := p.start(t); again.Host != config.Host {
		t.Fatalf("the API server came back at %s, not at %s", again.Host, config.Host)
	}
	defer func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}()
	wants(t, direct, ns, objects, 2)
	begin := time.Now()
	awaitFollowed(t, direct, ns, objects)
	t.Logf("followed %s after the last write", time.Since(begin))
	if n := f.overlaps.Load(); n > 0 {
		t.Errorf("%d reconciliations ran beside another one of the same object", n)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
