package client

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
)

// warningsKept bounds the memory of the warnings that have been logged.
const warningsKept = 1000

// warnings logs each of the server's warnings once.
type warnings struct {
	log logr.Logger

	mu     sync.Mutex
	logged map[string]bool
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	// 299 is the code of the warnings that Kubernetes sends; others are those of proxies.
	if code != 299 || text == "" || !w.first(text) {
		return
	}
	w.log.Info(text, "source", "API server warning")
}

func (w *warnings) first(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.logged[text] {
		return false
	}
	if w.logged == nil || len(w.logged) >= warningsKept {
		w.logged = map[string]bool{}
	}
	w.logged[text] = true
	return true
}
