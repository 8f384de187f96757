package cluster

import (
	"errors"
	"flag"
	"io"
	"strconv"
	"sync/atomic"

	"github.com/go-logr/logr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/grpclog"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/cmd/operon/cluster/apiserver"
)

// lastWords drops the components' messages but for the last, which is the reason when a component ends the process.
var lastWords = &lastMessage{}

type lastMessage struct{ text atomic.Pointer[string] }

func (l *lastMessage) Init(logr.RuntimeInfo)               {}
func (l *lastMessage) Enabled(level int) bool              { return level == 0 }
func (l *lastMessage) Info(_ int, msg string, _ ...any)    { l.text.Store(&msg) }
func (l *lastMessage) Error(_ error, msg string, _ ...any) {}
func (l *lastMessage) WithValues(...any) logr.LogSink      { return l }
func (l *lastMessage) WithName(string) logr.LogSink        { return l }

// componentExits makes ended hear when a component asks to end the process, as Kubernetes' components do on what they cannot recover from, a start
// that is cancelled among it. The component's goroutine stays, so that the process can be ended in order.
func componentExits(ended func(error)) {
	klog.OsExit = func(int) {
		reason := errors.New("a component of Kubernetes gave up")
		if text := lastWords.text.Load(); text != nil {
			reason = errors.New(*text)
		}
		ended(reason)
		select {}
	}
}

// setupLogging sets the process-wide loggers of the components and returns the one for the store. Verbosity 0 silences all of them.
func setupLogging(verbosity int, out io.Writer) *zap.Logger {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	// Together with a logger of our own this keeps klog from writing to standard error by itself, stack dumps of fatal errors included.
	flags.Set("logtostderr", "true")
	flags.Set("v", strconv.Itoa(verbosity))
	if verbosity == 0 {
		klog.SetLogger(logr.New(lastWords))
		apiserver.SetStoreLogger(zap.NewNop())
		return zap.NewNop()
	}
	level := zapcore.WarnLevel
	switch {
	case verbosity >= 6:
		level = zapcore.DebugLevel
	case verbosity >= 2:
		level = zapcore.InfoLevel
	}
	encoder := zap.NewProductionEncoderConfig()
	encoder.EncodeTime = zapcore.ISO8601TimeEncoder
	logger := zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(encoder), zapcore.Lock(zapcore.AddSync(out)), level))
	apiserver.SetStoreLogger(logger.Named("etcd-client"))
	return logger.Named("etcd")
}
