package early

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// roomyHeap is how large the heap of a run may get before garbage is collected. Most runs need no more in all, and are over sooner without.
const roomyHeap = 16 << 20

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
