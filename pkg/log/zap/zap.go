package zap

import (
	"io"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Options are all settings of a logger. The zero value is for production.
type Options struct {
	// Development chooses the defaults of the other fields: those for
	// development, or those for production.
	Development bool
	// Encoder turns a message into bytes. Nil means what NewEncoder makes.
	Encoder zapcore.Encoder
	// EncoderConfigOptions change the configuration that NewEncoder starts
	// from. They have no effect on an Encoder that is given.
	EncoderConfigOptions []EncoderConfigOption
	// NewEncoder makes the encoder when Encoder is nil. Nil means one for
	// people to read in development, and JSON otherwise.
	NewEncoder NewEncoderFunc
	// DestWriter is where messages go. Nil means os.Stderr. Writes to it are serialised.
	DestWriter io.Writer
	// Level is the lowest level that is logged. Verbosity V(n) is
	// zapcore.Level(-n). Nil means debug in development, and info otherwise.
	Level zapcore.LevelEnabler
	// StacktraceLevel is the lowest level whose messages come with a stack
	// trace. Nil means warnings in development, and errors otherwise.
	StacktraceLevel zapcore.LevelEnabler
	// ZapOpts are passed on to zap.
	ZapOpts []zap.Option
	// TimeEncoder writes the time of a message. Nil means RFC 3339. It has no
	// effect on an Encoder that is given.
	TimeEncoder zapcore.TimeEncoder
}

// Opts changes Options.
type Opts func(*Options)

// EncoderConfigOption changes the configuration of an encoder.
type EncoderConfigOption func(*zapcore.EncoderConfig)

// NewEncoderFunc makes an encoder from a configuration that the options have changed.
type NewEncoderFunc func(...EncoderConfigOption) zapcore.Encoder

// New returns a logger made from the options, applied in their order.
func New(opts ...Opts) logr.Logger {
	return zapr.NewLogger(NewRaw(opts...))
}

// NewRaw returns the zap logger that New would put behind logr.
func NewRaw(opts ...Opts) *zap.Logger {
	o := &Options{}
	for _, opt := range opts {
		opt(o)
	}
	o.setDefaults()

	sink := zapcore.Lock(zapcore.AddSync(o.DestWriter))
	core := zapcore.NewCore(&KubeAwareEncoder{Encoder: o.Encoder, Verbose: o.Development}, sink, o.Level)
	if !o.Development {
		core = namingCore{core}
	}
	options := []zap.Option{zap.AddStacktrace(o.StacktraceLevel), zap.ErrorOutput(sink)}
	if o.Development {
		options = append(options, zap.Development())
	} else if !o.Level.Enabled(zapcore.Level(-2)) {
		// Somebody who asks for that much detail wants all of it.
		options = append(options, zap.WrapCore(func(core zapcore.Core) zapcore.Core {
			return zapcore.NewSamplerWithOptions(core, time.Second, 100, 100)
		}))
	}
	return zap.New(core, append(options, o.ZapOpts...)...)
}

func (o *Options) setDefaults() {
	newEncoder, level, stacktrace := newJSONEncoder, zapcore.InfoLevel, zapcore.ErrorLevel
	if o.Development {
		newEncoder, level, stacktrace = newConsoleEncoder, zapcore.DebugLevel, zapcore.WarnLevel
	}
	if o.DestWriter == nil {
		o.DestWriter = os.Stderr
	}
	if o.NewEncoder == nil {
		o.NewEncoder = newEncoder
	}
	if o.Level == nil {
		o.Level = zap.NewAtomicLevelAt(level)
	}
	if o.StacktraceLevel == nil {
		o.StacktraceLevel = zap.NewAtomicLevelAt(stacktrace)
	}
	if o.TimeEncoder == nil {
		o.TimeEncoder = zapcore.RFC3339TimeEncoder
	}
	if o.Encoder == nil {
		withTime := func(config *zapcore.EncoderConfig) { config.EncodeTime = o.TimeEncoder }
		o.Encoder = o.NewEncoder(append([]EncoderConfigOption{withTime}, o.EncoderConfigOptions...)...)
	}
}

func newJSONEncoder(opts ...EncoderConfigOption) zapcore.Encoder {
	config := zap.NewProductionEncoderConfig()
	for _, opt := range opts {
		opt(&config)
	}
	return zapcore.NewJSONEncoder(config)
}

func newConsoleEncoder(opts ...EncoderConfigOption) zapcore.Encoder {
	config := zap.NewDevelopmentEncoderConfig()
	for _, opt := range opts {
		opt(&config)
	}
	return zapcore.NewConsoleEncoder(config)
}

// UseDevMode chooses the defaults for development, or for production.
func UseDevMode(enabled bool) Opts {
	return func(o *Options) { o.Development = enabled }
}

// WriteTo sets where messages go.
func WriteTo(out io.Writer) Opts {
	return func(o *Options) { o.DestWriter = out }
}

// Encoder sets how messages are encoded.
func Encoder(encoder zapcore.Encoder) func(o *Options) {
	return func(o *Options) { o.Encoder = encoder }
}

// JSONEncoder makes a message a JSON object.
func JSONEncoder(opts ...EncoderConfigOption) func(o *Options) {
	return func(o *Options) { o.Encoder = newJSONEncoder(opts...) }
}

// ConsoleEncoder makes a message a line for people to read.
func ConsoleEncoder(opts ...EncoderConfigOption) func(o *Options) {
	return func(o *Options) { o.Encoder = newConsoleEncoder(opts...) }
}

// Level sets the lowest level that is logged. Verbosity V(n) is zapcore.Level(-n).
func Level(level zapcore.LevelEnabler) func(o *Options) {
	return func(o *Options) { o.Level = level }
}

// StacktraceLevel sets the lowest level whose messages come with a stack trace.
func StacktraceLevel(stacktraceLevel zapcore.LevelEnabler) func(o *Options) {
	return func(o *Options) { o.StacktraceLevel = stacktraceLevel }
}

// RawZapOpts passes options on to zap, after those given before.
func RawZapOpts(zapOpts ...zap.Option) func(o *Options) {
	return func(o *Options) { o.ZapOpts = append(o.ZapOpts, zapOpts...) }
}

// UseFlagOptions takes all settings from in, which flags bound with
// [Options.BindFlags] have filled in. What earlier Opts set is dropped.
func UseFlagOptions(in *Options) Opts {
	return func(o *Options) { *o = *in }
}
