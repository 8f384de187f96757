package cache

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
)

func TestAllOfParallelWorkIsDoneOnce(t *testing.T) {
	for _, n := range []int{0, 1, minShare, 2 * minShare, 10*minShare + 7} {
		done := make([]atomic.Int32, n)
		if err := inParallel(n, func(i int) error { done[i].Add(1); return nil }); err != nil {
			t.Error(err)
		}
		for i := range done {
			if times := done[i].Load(); times != 1 {
				t.Errorf("of %d: %d was done %d times", n, i, times)
			}
		}
	}
}

func TestErrorsOfParallelWorkAreReturned(t *testing.T) {
	bad := errors.New("bad")
	if err := inParallel(4*minShare, func(i int) error {
		if i == 4*minShare-1 {
			return bad
		}
		return nil
	}); !errors.Is(err, bad) {
		t.Errorf("error %v", err)
	}
}

// Whoever reads can recover from what a method of its type does, as a controller does.
func TestAPanicOfParallelWorkReachesTheCaller(t *testing.T) {
	for _, at := range []int{0, 4*minShare - 1} {
		func() {
			defer func() {
				if p := recover(); p != "cannot be copied" {
					t.Errorf("recovered %v", p)
				}
			}()
			_ = inParallel(4*minShare, func(i int) error {
				if i == at {
					panic("cannot be copied")
				}
				return nil
			})
		}()
	}
	if runtime.GOMAXPROCS(0) < 2 {
		t.Log("on one processor the work is done in order")
	}
}
