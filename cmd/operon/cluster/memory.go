package cluster

import (
	"os"
	"runtime/debug"
)

// Garbage collection is the largest part of a start's work where it runs as often as Go has it by default, and what
// a start leaves behind is of no use after it.
const (
	gcPercentStarting = 400
	gcPercentRunning  = 75
)

// tuneMemory lets the start run with little garbage collection and returns what is to be called after it. GOGC overrides both.
func tuneMemory() (settled func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(gcPercentStarting)
	return func() {
		debug.SetGCPercent(gcPercentRunning)
		debug.FreeOSMemory()
	}
}
