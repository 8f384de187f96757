package log

import "github.com/go-logr/logr"

// NullLogSink is a sink that drops everything.
type NullLogSink struct{}

var _ logr.LogSink = NullLogSink{}

// Init implements logr.LogSink.
func (NullLogSink) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (NullLogSink) Enabled(level int) bool { return false }

// Info implements logr.LogSink.
func (NullLogSink) Info(_ int, _ string, _ ...any) {}

// Error implements logr.LogSink.
func (NullLogSink) Error(_ error, _ string, _ ...any) {}

// WithName implements logr.LogSink.
func (log NullLogSink) WithName(_ string) logr.LogSink { return log }

// WithValues implements logr.LogSink.
func (log NullLogSink) WithValues(_ ...any) logr.LogSink { return log }
