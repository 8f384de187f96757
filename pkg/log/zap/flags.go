package zap

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// BindFlags declares these flags in fs, which set the fields of o when fs is parsed:
//
//   - zap-devel: the defaults for development rather than for production
//   - zap-encoder: json or console
//   - zap-log-level: debug, info, error, panic, or a number n > 0 for messages up to V(n)
//   - zap-stacktrace-level: info, error or panic
//   - zap-time-encoding: epoch, millis, nano, iso8601, rfc3339 or rfc3339nano
//
// A flag that is not given leaves its field as it was. The values of o at the
// time of the call are the defaults.
func (o *Options) BindFlags(fs *flag.FlagSet) {
	fs.BoolVar(&o.Development, "zap-devel", o.Development,
		"Log for development: console lines, from debug up, stack traces from warnings up. "+
			"Otherwise for production: JSON, from info up, stack traces from errors up. The other zap flags override that.")
	fs.Var(&choiceFlag{set: o.setEncoder}, "zap-encoder",
		"How log lines are written: 'json' or 'console'.")
	fs.Var(&choiceFlag{set: o.setLevel}, "zap-log-level",
		"The lowest level that is logged: 'debug', 'info', 'error', 'panic', "+
			"or a number from 1 to 127, the higher the more debug messages.")
	fs.Var(&choiceFlag{set: o.setStacktraceLevel}, "zap-stacktrace-level",
		"The lowest level that is logged with a stack trace: 'info', 'error' or 'panic'.")
	fs.Var(&choiceFlag{set: o.setTimeEncoder}, "zap-time-encoding",
		"How times are written: 'epoch', 'millis', 'nano', 'iso8601', 'rfc3339' or 'rfc3339nano'. 'rfc3339' if not given.")
}

// choiceFlag is a flag whose value a function understands.
type choiceFlag struct {
	value string
	set   func(string) error
}

// String implements flag.Value.
func (f *choiceFlag) String() string { return f.value }

// Set implements flag.Value.
func (f *choiceFlag) Set(value string) error {
	if err := f.set(value); err != nil {
		return err
	}
	f.value = value
	return nil
}

func (o *Options) setEncoder(value string) error {
	switch strings.ToLower(value) {
	case "json":
		o.NewEncoder = newJSONEncoder
	case "console":
		o.NewEncoder = newConsoleEncoder
	default:
		return fmt.Errorf("%q is neither json nor console", value)
	}
	return nil
}

var namedLevels = map[string]zapcore.Level{
	"debug": zapcore.DebugLevel,
	"info":  zapcore.InfoLevel,
	"error": zapcore.ErrorLevel,
	"panic": zapcore.PanicLevel,
}

func (o *Options) setLevel(value string) error {
	level, ok := namedLevels[strings.ToLower(value)]
	if !ok {
		n, err := strconv.ParseUint(value, 10, 7)
		if err != nil || n == 0 {
			return fmt.Errorf("%q is neither debug, info, error or panic, nor a number from 1 to 127", value)
		}
		level = zapcore.Level(-int8(n))
	}
	o.Level = zap.NewAtomicLevelAt(level)
	return nil
}

func (o *Options) setStacktraceLevel(value string) error {
	level, ok := namedLevels[strings.ToLower(value)]
	if !ok || level == zapcore.DebugLevel {
		return fmt.Errorf("%q is neither info, error nor panic", value)
	}
	o.StacktraceLevel = zap.NewAtomicLevelAt(level)
	return nil
}

func (o *Options) setTimeEncoder(value string) error {
	switch strings.ToLower(value) {
	case "epoch":
		o.TimeEncoder = zapcore.EpochTimeEncoder
	case "millis":
		o.TimeEncoder = zapcore.EpochMillisTimeEncoder
	case "nano":
		o.TimeEncoder = zapcore.EpochNanosTimeEncoder
	case "iso8601":
		o.TimeEncoder = zapcore.ISO8601TimeEncoder
	case "rfc3339":
		o.TimeEncoder = zapcore.RFC3339TimeEncoder
	case "rfc3339nano":
		o.TimeEncoder = zapcore.RFC3339NanoTimeEncoder
	default:
		return fmt.Errorf("%q is neither epoch, millis, nano, iso8601, rfc3339 nor rfc3339nano", value)
	}
	return nil
}
