package log

import (
	"context"

	"github.com/go-logr/logr"
)

var root = newTarget()

// Log is the logger that everything falls back on. It passes on what it gets
// to the logger given to [SetLogger], and drops it before that.
var Log = logr.New(&delegate{target: root})

// SetLogger makes l the logger behind [Log] and behind everything derived from
// Log, before or after this call. The last call counts.
func SetLogger(l logr.Logger) {
	sink := l.GetSink()
	if d, ok := sink.(*delegate); ok && d.target == root {
		// Log, or a logger derived from it, cannot stand behind itself.
		return
	}
	if sink == nil {
		sink = NullLogSink{}
	}
	root.set(sink)
}

// FromContext returns the logger in ctx, or [Log] if there is none, with the
// keys and values added.
func FromContext(ctx context.Context, keysAndValues ...any) logr.Logger {
	l := Log
	if ctx != nil {
		if found, err := logr.FromContext(ctx); err == nil {
			l = found
		}
	}
	if len(keysAndValues) == 0 {
		return l
	}
	return l.WithValues(keysAndValues...)
}

// IntoContext returns a context that carries the logger, for [FromContext].
func IntoContext(ctx context.Context, log logr.Logger) context.Context {
	return logr.NewContext(ctx, log)
}
