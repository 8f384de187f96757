package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
)

var errStopping = errors.New("the manager is stopping and takes no new runnables")

// group is runnables that start together and stop together. It owns their goroutines.
type group struct {
	name   string
	failed func(error) // told of each runnable's error
	// started waits until a runnable has started. A group that has it waits for those that come late, and what it
	// returns is an error of theirs; those that are there from the beginning are the manager's to wait for.
	started func(context.Context, Runnable) error

	mu      sync.Mutex
	waiting []Runnable
	launch  func(*run) // nil until the group is started
	cancel  context.CancelFunc
	stopped bool

	running map[*run]struct{}
	idle    chan struct{} // closed when the group is stopped and nothing runs
}

// run is one runnable that runs.
type run struct {
	runnable Runnable
	waits    bool // for another one's start
}

func newGroup(name string, failed func(error)) *group {
	return &group{name: name, failed: failed, running: map[*run]struct{}{}, idle: make(chan struct{})}
}

// add has a runnable started with the group or, if it runs already, now.
func (g *group) add(r Runnable) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.stopped:
		return errStopping
	case g.launch != nil:
		g.launch(&run{runnable: r})
		if g.started != nil {
			g.launch(&run{runnable: RunnableFunc(func(ctx context.Context) error {
				if err := g.started(ctx, r); ctx.Err() == nil {
					return err
				}
				return nil
			}), waits: true})
		}
	default:
		g.waiting = append(g.waiting, r)
	}
	return nil
}

// start starts the runnables, and those to come, with a context of ctx. It
// does nothing to a group that is stopped.
func (g *group) start(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	ctx, g.cancel = context.WithCancel(ctx)
	g.launch = func(this *run) {
		g.running[this] = struct{}{}
		go func() {
			// Deferred, so that a runnable that ends its goroutine is not waited for.
			defer g.ended(this)
			if err := this.runnable.Start(ctx); err != nil {
				g.failed(err)
			}
		}()
	}
	for _, r := range g.waiting {
		g.launch(&run{runnable: r})
	}
	g.waiting = nil
}

func (g *group) ended(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, r)
	g.closeIfIdle()
}

// stop ends the runnables' context and lets none start any more. It does not wait.
func (g *group) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return
	}
	g.stopped = true
	if g.cancel != nil {
		g.cancel()
	}
	g.closeIfIdle()
}

func (g *group) closeIfIdle() {
	if g.stopped && len(g.running) == 0 {
		close(g.idle)
	}
}

// isIdle says whether the group is stopped and nothing runs.
func (g *group) isIdle() bool {
	select {
	case <-g.idle:
		return true
	default:
		return false
	}
}

// members returns the runnables that wait or run.
func (g *group) members() []Runnable {
	g.mu.Lock()
	defer g.mu.Unlock()
	members := slices.Clone(g.waiting)
	for r := range g.running {
		if !r.waits {
			members = append(members, r.runnable)
		}
	}
	return members
}

// stillRunning names the runnables that run.
func (g *group) stillRunning() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	counts := map[string]int{}
	for r := range g.running {
		if r.waits {
			continue
		}
		counts[nameOf(r.runnable)]++
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[name]; n > 1 {
			name = fmt.Sprintf("%s (%d times)", name, n)
		}
		names = append(names, name)
	}
	return names
}

// nameOf returns what a person can recognise a runnable by.
func nameOf(r Runnable) string {
	switch r := r.(type) {
	case fmt.Stringer:
		return r.String()
	case RunnableFunc:
		if f := runtime.FuncForPC(reflect.ValueOf(r).Pointer()); f != nil {
			return f.Name()
		}
	case *Server:
		return "server " + r.name()
	}
	return fmt.Sprintf("%T", r)
}
