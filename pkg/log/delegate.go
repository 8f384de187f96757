package log

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
)

// hintAfter is how long a program may log into nothing before it is told.
const hintAfter = 30 * time.Second

// target is where delegates lead: one sink, or none yet.
type target struct {
	chosen atomic.Pointer[choice]

	since  time.Time
	hinted atomic.Bool
	hintTo io.Writer
}

// choice is one call of SetLogger; its address tells it from the others.
type choice struct {
	sink logr.LogSink
}

func newTarget() *target {
	return &target{since: time.Now(), hintTo: os.Stderr}
}

func (t *target) set(sink logr.LogSink) {
	t.chosen.Store(&choice{sink: sink})
}

// missed is called for what is logged while there is no sink.
func (t *target) missed() {
	if time.Since(t.since) < hintAfter || t.hinted.Swap(true) {
		return
	}
	fmt.Fprintln(t.hintTo, "[operon] log.SetLogger(...) was never called; logs will not be displayed. "+
		"Call it first thing in main, for example: ctrl.SetLogger(zap.New())")
}

// delegate is a sink that leads to a target, with one name or some values, or
// a number of stack frames, added to what its parent has added.
type delegate struct {
	target *target
	parent *delegate // nil for the first
	add    func(logr.LogSink) logr.LogSink

	// made is what add made of the sink that was chosen last.
	made atomic.Pointer[madeSink]
}

type madeSink struct {
	of   *choice
	sink logr.LogSink
}

var (
	_ logr.LogSink          = (*delegate)(nil)
	_ logr.CallDepthLogSink = (*delegate)(nil)
)

// sink returns the sink to log to, or nil.
func (d *delegate) sink() logr.LogSink {
	chosen := d.target.chosen.Load()
	if chosen == nil {
		return nil
	}
	return d.sinkOf(chosen)
}

func (d *delegate) sinkOf(chosen *choice) logr.LogSink {
	if made := d.made.Load(); made != nil && made.of == chosen {
		return made.sink
	}
	var sink logr.LogSink
	if d.parent == nil {
		sink = chosen.sink
		if deep, ok := sink.(logr.CallDepthLogSink); ok {
			// The delegate itself is one frame that the caller is not in.
			sink = deep.WithCallDepth(1)
		}
	} else {
		sink = d.add(d.parent.sinkOf(chosen))
	}
	d.made.Store(&madeSink{of: chosen, sink: sink})
	return sink
}

func (d *delegate) derive(add func(logr.LogSink) logr.LogSink) logr.LogSink {
	child := &delegate{target: d.target, parent: d, add: add}
	// Values are encoded when they are added, not when they are logged first: the caller may change them between.
	child.sink()
	return child
}

// Init implements logr.LogSink. The sink behind was initialised by its own logger.
func (d *delegate) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (d *delegate) Enabled(level int) bool {
	sink := d.sink()
	if sink == nil {
		d.target.missed()
		return false
	}
	return sink.Enabled(level)
}

// Info implements logr.LogSink.
func (d *delegate) Info(level int, msg string, keysAndValues ...any) {
	if sink := d.sink(); sink != nil {
		sink.Info(level, msg, keysAndValues...)
	}
}

// Error implements logr.LogSink.
func (d *delegate) Error(err error, msg string, keysAndValues ...any) {
	sink := d.sink()
	if sink == nil {
		d.target.missed()
		return
	}
	sink.Error(err, msg, keysAndValues...)
}

// WithName implements logr.LogSink.
func (d *delegate) WithName(name string) logr.LogSink {
	return d.derive(func(sink logr.LogSink) logr.LogSink { return sink.WithName(name) })
}

// WithValues implements logr.LogSink.
func (d *delegate) WithValues(keysAndValues ...any) logr.LogSink {
	return d.derive(func(sink logr.LogSink) logr.LogSink { return sink.WithValues(keysAndValues...) })
}

// WithCallDepth implements logr.CallDepthLogSink.
func (d *delegate) WithCallDepth(depth int) logr.LogSink {
	return d.derive(func(sink logr.LogSink) logr.LogSink {
		if deep, ok := sink.(logr.CallDepthLogSink); ok {
			return deep.WithCallDepth(depth)
		}
		return sink
	})
}
