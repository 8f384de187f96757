package manager

import (
	"context"
	"errors"
	"sync"

	"github.com/go-logr/logr"
)

// failures keeps the first error of any runnable, and logs the others.
type failures struct {
	logger logr.Logger
	some   chan struct{} // closed with the first

	mu       sync.Mutex
	first    error
	stopping bool
}

func newFailures(logger logr.Logger) *failures {
	return &failures{logger: logger, some: make(chan struct{})}
}

func (f *failures) report(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopping || f.first != nil {
		// A runnable that is told to stop often says so.
		if !errors.Is(err, context.Canceled) {
			f.logger.Error(err, "a runnable failed while the manager stops")
		}
		return
	}
	f.first = err
	close(f.some)
}

// stop returns the first error, or nil. Those that come later are logged.
func (f *failures) stop() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopping = true
	return f.first
}
