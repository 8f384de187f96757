package cache

import (
	"context"
	"errors"
	"sync"
)

var errStartedTwice = errors.New("the cache was started before: it can be started once")

// crew owns the goroutines of a cache: they run while its run does, which waits for them.
type crew struct {
	started *gate
	ended   *gate
	wake    chan struct{}

	mu   sync.Mutex
	jobs []func(context.Context)
	runs bool
	over bool
}

func newCrew() *crew {
	return &crew{started: newGate(), ended: newGate(), wake: make(chan struct{}, 1)}
}

// do has a job done in a goroutine of its own, as soon as the crew runs. It does not block. A job must end when its
// context does; once that has happened, do does nothing.
func (c *crew) do(job func(context.Context)) {
	c.mu.Lock()
	if !c.over {
		c.jobs = append(c.jobs, job)
	}
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run does the jobs until ctx ends, and returns when the last has ended.
func (c *crew) run(ctx context.Context) error {
	c.mu.Lock()
	if c.runs {
		c.mu.Unlock()
		return errStartedTwice
	}
	c.runs = true
	c.mu.Unlock()
	c.started.open()

	var all sync.WaitGroup
	for ctx.Err() == nil {
		for _, job := range c.take() {
			all.Go(func() { job(ctx) })
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	c.over, c.jobs = true, nil
	c.mu.Unlock()
	c.ended.open()
	all.Wait()
	return nil
}

func (c *crew) take() []func(context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	jobs := c.jobs
	c.jobs = nil
	return jobs
}
