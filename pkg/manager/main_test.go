package manager

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"
)

// offline makes a manager that has no API server, and needs none.
func offline(t *testing.T, change ...func(*Options)) *manager {
	t.Helper()
	options := Options{Metrics: metricsserver.Options{BindAddress: "0"}}
	for _, c := range change {
		c(&options)
	}
	m, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, options)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*manager)
}

// diary notes what happens, in order.
type diary struct {
	mu      sync.Mutex
	entries []string
}

func (d *diary) note(entry string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, entry)
}

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.entries...)
}

// noting is a runnable that notes when it starts and ends, and takes its time to end.
type noting struct {
	name  string
	diary *diary
	takes time.Duration
}

func (n *noting) Start(ctx context.Context) error {
	n.diary.note("start " + n.name)
	<-ctx.Done()
	time.Sleep(n.takes)
	n.diary.note("end " + n.name)
	return nil
}

// everywhere is a runnable that needs no leader election.
type everywhere struct{ Runnable }

func (everywhere) NeedLeaderElection() bool { return false }

// warming is a runnable with a warm-up.
type warming struct {
	Runnable
	diary *diary
}

func (w warming) Warmup(context.Context) error {
	w.diary.note("warm up")
	return nil
}

// started runs a manager in the background. stop ends it and returns what Start returned.
func started(m Manager) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- m.Start(ctx) }()
	return func() error {
		cancel()
		return <-result
	}
}

func mustAdd(t *testing.T, m Manager, runnables ...Runnable) {
	t.Helper()
	for _, r := range runnables {
		if err := m.Add(r); err != nil {
			t.Fatal(err)
		}
	}
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// inBubble runs a test in which time passes as soon as nothing else is left to do.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

var errBroken = errors.New("broken")
