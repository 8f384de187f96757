package etcd

import (
	"runtime"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// fatalHook keeps the first message that was meant to end the process, and ends the goroutine instead.
type fatalHook struct {
	once sync.Once
	done chan struct{}
	mu   sync.Mutex
	text string
}

func newFatalHook() *fatalHook { return &fatalHook{done: make(chan struct{})} }

func (h *fatalHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	h.once.Do(func() {
		text := entry.Message
		for _, f := range fields {
			if err, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
				text += ": " + err.Error()
			}
		}
		h.mu.Lock()
		h.text = text
		h.mu.Unlock()
		close(h.done)
	})
	runtime.Goexit()
}

func (h *fatalHook) message() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text
}

// hookInto returns the logger that etcd is to have instead of this one: etcd ends the process on damage, by Fatal and by Panic, from goroutines of
// its own, and the hook turns both into errors.
func (h *fatalHook) hookInto(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WithFatalHook(h), zap.WithPanicHook(h), zap.WrapCore(h.wrap))
}

// wrap makes the core accept panics and fatal errors whatever its level: a hook is only asked about accepted entries.
func (h *fatalHook) wrap(core zapcore.Core) zapcore.Core { return severeCore{core} }

type severeCore struct{ zapcore.Core }

func (c severeCore) With(fields []zapcore.Field) zapcore.Core { return severeCore{c.Core.With(fields)} }

func (c severeCore) Enabled(level zapcore.Level) bool {
	return level >= zapcore.PanicLevel || c.Core.Enabled(level)
}

func (c severeCore) Check(entry zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Level >= zapcore.PanicLevel {
		return ce.AddCore(entry, c)
	}
	return c.Core.Check(entry, ce)
}

func (c severeCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	if !c.Core.Enabled(entry.Level) {
		return nil
	}
	return c.Core.Write(entry, fields)
}
