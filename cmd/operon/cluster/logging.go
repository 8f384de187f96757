package cluster

import (
	"flag"
	"io"
	"strconv"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/grpclog"
	"k8s.io/klog/v2"
)

// setupLogging sets the process-wide loggers of the components and returns the one for the store. Verbosity 0 silences all of them.
func setupLogging(verbosity int, out io.Writer) *zap.Logger {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	flags.Set("logtostderr", "false")
	flags.Set("alsologtostderr", "false")
	flags.Set("stderrthreshold", "FATAL")
	flags.Set("v", strconv.Itoa(verbosity))
	if verbosity == 0 {
		klog.SetOutput(io.Discard)
		return zap.NewNop()
	}
	flags.Set("one_output", "true")
	klog.SetOutput(out)
	level := zapcore.WarnLevel
	switch {
	case verbosity >= 6:
		level = zapcore.DebugLevel
	case verbosity >= 2:
		level = zapcore.InfoLevel
	}
	encoder := zap.NewProductionEncoderConfig()
	encoder.EncodeTime = zapcore.ISO8601TimeEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(encoder), zapcore.Lock(zapcore.AddSync(out)), level)).Named("etcd")
}
