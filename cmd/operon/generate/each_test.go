package generate_test

import (
	"sync/atomic"
	"testing"

	"github.com/operon-dev/operon/cmd/operon/generate"
)

func TestEachNumberIsPassedOnce(t *testing.T) {
	for _, n := range []int{0, 1, 100} {
		calls := make([]atomic.Int64, n)
		generate.Each(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("of %d numbers, %d is passed %d times", n, i, got)
			}
		}
	}
}
