package controller

import (
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/pkg/reconcile"
)

// ownLogger is the logger of a controller as a whole.
func ownLogger(logger logr.Logger, name string, kind schema.GroupKind) logr.Logger {
	logger = logger.WithValues("controller", name)
	if kind.Empty() {
		return logger
	}
	return logger.WithValues("controllerGroup", kind.Group, "controllerKind", kind.Kind)
}

// logConstructor returns how loggers are made of a controller's own: by adding what names the object of the
// request, where it names one.
func logConstructor[request comparable](own logr.Logger, kind schema.GroupKind) func(*request) logr.Logger {
	key := kind.Kind
	if key == "" {
		key = "object"
	}
	return func(r *request) logr.Logger {
		if r == nil {
			return own
		}
		if object, ok := any(r).(*reconcile.Request); ok {
			return own.WithValues(
				key, klog.KRef(object.Namespace, object.Name),
				"namespace", object.Namespace, "name", object.Name,
			)
		}
		return own.WithValues("request", *r)
	}
}

// onDemand returns the logger that construct makes, except that it is not made before something is logged:
// most reconciliations log nothing. own, of which construct makes it, says what is enabled.
func onDemand(own logr.Logger, construct func() logr.Logger) logr.Logger {
	if own.GetSink() == nil {
		return own
	}
	return logr.New(&demandedSink{own: own.GetSink(), construct: construct}).V(own.GetV())
}

// demandedSink is a sink that is made on demand.
type demandedSink struct {
	own       logr.LogSink
	construct func() logr.Logger

	once sync.Once
	sink logr.LogSink
}

func (s *demandedSink) made() logr.LogSink {
	s.once.Do(func() { s.sink = s.construct().GetSink() })
	return s.sink
}

var _ logr.CallDepthLogSink = &demandedSink{}

// Init has nothing to do: the sinks to which this one leads have been initialised.
func (s *demandedSink) Init(logr.RuntimeInfo) {}

func (s *demandedSink) Enabled(level int) bool { return s.own.Enabled(level) }

func (s *demandedSink) Info(level int, msg string, keysAndValues ...any) {
	s.behind().Info(level, msg, keysAndValues...)
}

func (s *demandedSink) Error(err error, msg string, keysAndValues ...any) {
	s.behind().Error(err, msg, keysAndValues...)
}

func (s *demandedSink) WithValues(keysAndValues ...any) logr.LogSink {
	return s.made().WithValues(keysAndValues...)
}

func (s *demandedSink) WithName(name string) logr.LogSink { return s.made().WithName(name) }

func (s *demandedSink) WithCallDepth(depth int) logr.LogSink { return deeper(s.made(), depth) }

// behind is the sink as it has to be called from a method of this one, which must not pass for the place that logs.
func (s *demandedSink) behind() logr.LogSink { return deeper(s.made(), 1) }

func deeper(sink logr.LogSink, depth int) logr.LogSink {
	if s, ok := sink.(logr.CallDepthLogSink); ok {
		return s.WithCallDepth(depth)
	}
	return sink
}
