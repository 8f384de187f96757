package cache

import (
	"errors"
	"runtime"
	"sync"
)

// minShare is how many objects it takes to be worth a goroutine: copying one takes some microseconds.
const minShare = 16

// inOrder does n pieces of work until one fails.
func inOrder(n int, work func(i int) error) error {
	for i := range n {
		if err := work(i); err != nil {
			return err
		}
	}
	return nil
}

// inParallel does n pieces of work that have nothing to do with each other, on as many processors as there are and as
// are worth it. It returns when all are done, with their errors. It panics, for its caller to recover, if one of them does:
// copying calls methods of users' types.
func inParallel(n int, work func(i int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n/minShare)
	if workers < 2 {
		return inOrder(n, work)
	}
	errs, panics := make([]error, workers), make([]any, workers)
	share := func(w int) {
		defer func() { panics[w] = recover() }()
		for i := n * w / workers; i < n*(w+1)/workers; i++ {
			if errs[w] = work(i); errs[w] != nil {
				return
			}
		}
	}
	var others sync.WaitGroup
	for w := 1; w < workers; w++ {
		others.Go(func() { share(w) })
	}
	share(0)
	others.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p)
		}
	}
	return errors.Join(errs...)
}
