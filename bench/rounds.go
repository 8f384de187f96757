package main

import (
	"runtime"
	"time"
)

// cost is what one operation took. The allocations are those of the whole process meanwhile.
type cost struct {
	ns, allocs float64
}

// contender is one way to do the work of a row.
type contender func() (cost, error)

// interleave runs the contenders in turn and returns the costs of each.
func interleave(rounds int, contenders ...contender) ([][]cost, error) {
	costs := make([][]cost, len(contenders))
	for round := range rounds {
		for turn := range contenders {
			i := (round + turn) % len(contenders)
			runtime.GC()
			c, err := contenders[i]()
			if err != nil {
				return nil, err
			}
			costs[i] = append(costs[i], c)
		}
	}
	return costs, nil
}

// repeat makes a contender that does op n times; its cost is that of one.
func repeat(n int, op func() error) contender {
	return func() (cost, error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		for range n {
			if err := op(); err != nil {
				return cost{}, err
			}
		}
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		return cost{
			ns:     float64(took.Nanoseconds()) / float64(n),
			allocs: float64(after.Mallocs-before.Mallocs) / float64(n),
		}, nil
	}
}

func times(costs []cost) []float64 {
	samples := make([]float64, len(costs))
	for i, c := range costs {
		samples[i] = c.ns
	}
	return samples
}

func allocs(costs []cost) []float64 {
	samples := make([]float64, len(costs))
	for i, c := range costs {
		samples[i] = c.allocs
	}
	return samples
}
