package generate

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do with the numbers from 0 to n-1, on as many goroutines as there are processors, and returns after the last call.
func Each(n int, do func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.NumCPU(), runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}
