package main

import (
	"errors"
	"sync"
)

// rates are how many operations there were a second.
func rates(costs []cost) []float64 {
	return samples(costs, func(c cost) float64 { return 1e9 / c.ns })
}

// repeatAtOnce is repeat with several goroutines that share the n calls of op. The cost is wall time by calls.
func repeatAtOnce(n, goroutines int, op func() error) contender {
	return repeat(1, func() error { return atOnce(n, goroutines, func(int) error { return op() }) }).dividedBy(n)
}

// dividedBy returns the contender with its cost spread over n operations.
func (c contender) dividedBy(n int) contender {
	return func() (cost, error) {
		whole, err := c()
		return cost{ns: whole.ns / float64(n), allocs: whole.allocs / float64(n), bytes: whole.bytes / float64(n)}, err
	}
}

// atOnce calls op for 0 to n-1, spread over goroutines, and returns the errors.
func atOnce(n, goroutines int, op func(int) error) error {
	errs := make([]error, goroutines)
	var workers sync.WaitGroup
	for w := range goroutines {
		workers.Go(func() {
			for i := w; i < n; i += goroutines {
				if err := op(i); err != nil {
					errs[w] = err
					return
				}
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}
