package controller

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/operon-dev/operon/pkg/healthz"
	"github.com/operon-dev/operon/pkg/source"
)

// ReadyCheck returns a check that fails while c has been started and its workers wait for a source, and says for
// which and why: a CRD that is not there, or a watch that is forbidden. As a readiness check of the manager it makes
// such a pod's condition Ready false. A controller that waits for its election is ready, or replicas would never be.
//
// It passes always for a controller that New or the builder has not made.
func ReadyCheck[request comparable](c TypedController[request]) healthz.Checker {
	waits, ok := c.(interface{ unsynced() error })
	if !ok {
		return healthz.Ping
	}
	return func(*http.Request) error { return waits.unsynced() }
}

// awaited is a source that is started and not synced.
type awaited[request comparable] struct {
	source source.TypedSource[request]
}

// await notes that a source is waited for, until over is called.
func (c *controller[request]) await(src source.TypedSource[request]) (over func()) {
	a := &awaited[request]{src}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.awaited = append(c.awaited, a)
	c.metrics.waiting.Inc()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.awaited = slices.DeleteFunc(c.awaited, func(other *awaited[request]) bool { return other == a })
		c.metrics.waiting.Dec()
	}
}

// unsynced says which sources are waited for, and why.
func (c *controller[request]) unsynced() error {
	c.mu.Lock()
	all := slices.Clone(c.awaited)
	c.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	parts := make([]string, len(all))
	for i, a := range all {
		parts[i] = fmt.Sprint(a.source)
		if err := obstacleOf(a.source); err != nil {
			parts[i] += ": " + err.Error()
		}
	}
	return errors.New("waiting for " + strings.Join(parts, "; "))
}

// obstacleOf is what keeps a source from being synced, if it knows.
func obstacleOf[request comparable](src source.TypedSource[request]) error {
	if telling, ok := src.(source.TypedTellingSource[request]); ok {
		return telling.Obstacle()
	}
	return nil
}
