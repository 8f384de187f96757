// Package heap lets the heap of a run of the generators grow before garbage is collected the first time. Most runs need no more in all, and are over
// sooner without.
//
// It is initialised as soon as Go's runtime/debug is. A process that is no run of the generators is left alone.
package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/operon-dev/operon/cmd/operon/generate/start/early"
)

// roomy is how large the heap may get before garbage is collected, in bytes.
const roomy = 20 << 20

func init() {
	if _, ok := early.Arguments(); ok {
		letGrow(roomy)
	}
}

// letGrow lets the heap grow to a size, and from there on to twice of what is live.
func letGrow(size uint64) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := size * 100 / max(live[0].Value.Uint64(), smallest)
	debug.SetGCPercent(int(max(percent, 200)) - 100)
	// What nothing refers to is cleaned up after each collection.
	runtime.AddCleanup(new([2]*int), letGrow, size)
}

// smallest is the least size at which Go collects garbage at all when the percentage is 100.
const smallest = 4 << 20
