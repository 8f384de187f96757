package log

import (
	"context"
	"sync"

	"k8s.io/client-go/rest"
)

// warningCode is the only code with which an API server sends warnings to be shown.
const warningCode = 299

// KubeAPIWarningLoggerOptions set how warnings of the API server are logged.
type KubeAPIWarningLoggerOptions struct {
	// Deduplicate logs a text once only. Every text is remembered, so a
	// process that meets ever new ones needs ever more memory.
	Deduplicate bool
}

// KubeAPIWarningLogger logs the warnings that come with an API server's
// answers. It is set as WarningHandlerWithContext of a rest.Config. It may be
// used by several goroutines at once.
type KubeAPIWarningLogger struct {
	deduplicate bool

	mu     sync.Mutex
	logged map[string]struct{}
}

var _ rest.WarningHandlerWithContext = (*KubeAPIWarningLogger)(nil)

// NewKubeAPIWarningLogger returns a warning handler that logs to the logger in
// the context of the request, or to [Log].
func NewKubeAPIWarningLogger(opts KubeAPIWarningLoggerOptions) *KubeAPIWarningLogger {
	return &KubeAPIWarningLogger{deduplicate: opts.Deduplicate, logged: map[string]struct{}{}}
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (l *KubeAPIWarningLogger) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, message string) {
	if code != warningCode || message == "" || !l.first(message) {
		return
	}
	FromContext(ctx).Info(message)
}

func (l *KubeAPIWarningLogger) first(message string) bool {
	if !l.deduplicate {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, seen := l.logged[message]; seen {
		return false
	}
	l.logged[message] = struct{}{}
	return true
}
