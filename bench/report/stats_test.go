package report

import (
	"math"
	"slices"
	"testing"
)

func TestSummarize(t *testing.T) {
	for name, test := range map[string]struct {
		samples []float64
		want    summary
	}{
		"none":            {nil, summary{}},
		"one":             {[]float64{3}, summary{3, 3, 3}},
		"odd, unsorted":   {[]float64{9, 1, 4}, summary{4, 2.5, 6.5}},
		"even, unsorted":  {[]float64{8, 1, 2, 4}, summary{3, 1.75, 5}},
		"outlier":         {[]float64{1, 1, 1, 1000, 1}, summary{1, 1, 1}},
		"negative, zeros": {[]float64{0, -2, 0}, summary{0, -1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.samples)
			if got := summarize(test.samples); got != test.want {
				t.Errorf("summarize(%v) = %+v, want %+v", test.samples, got, test.want)
			}
			if !slices.Equal(before, test.samples) {
				t.Errorf("summarize reordered its samples: %v, were %v", test.samples, before)
			}
		})
	}
}

func TestRatio(t *testing.T) {
	if got, ok := ratio(1, 4); got != 0.25 || !ok {
		t.Errorf("ratio(1, 4) = %v, %v", got, ok)
	}
	if _, ok := ratio(1, 0); ok {
		t.Error("a ratio to zero is said to exist")
	}
}

func TestTargetIsMet(t *testing.T) {
	for name, test := range map[string]struct {
		target     Target
		ours, peer float64
		want       bool
	}{
		"ratio at its bound":         {AtMostRatio(0.5), 5, 10, true},
		"ratio above":                {AtMostRatio(0.5), 5.1, 10, false},
		"ratio to zero":              {AtMostRatio(0.5), 1, 0, false},
		"nothing against nothing":    {AtMostRatio(0.5), 0, 0, true},
		"at least, above":            {AtLeastRatio(2), 21, 10, true},
		"at least, below":            {AtLeastRatio(2), 19, 10, false},
		"value at its bound":         {AtMost(50), 50, 1, true},
		"value above, peer is worse": {AtMost(50), 51, 1000, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.target.met(test.ours, test.peer); got != test.want {
				t.Errorf("%v.met(%v, %v) = %v", test.target, test.ours, test.peer, got)
			}
		})
	}
}

func TestExponentOfAPowerIsFound(t *testing.T) {
	sizes := []float64{1000, 10_000, 100_000}
	for _, k := range []float64{0, 0.5, 1, 2} {
		var values []float64
		for _, size := range sizes {
			values = append(values, 7*math.Pow(size, k))
		}
		if got, ok := exponent(sizes, values); !ok || math.Abs(got-k) > 1e-9 {
			t.Errorf("exponent of 7·n^%v = %v, %v", k, got, ok)
		}
	}
	for name, values := range map[string][]float64{"zero": {0, 1, 2}, "negative": {1, -1, 2}} {
		if k, ok := exponent(sizes, values); ok {
			t.Errorf("%s: a power is said to fit: %v", name, k)
		}
	}
	if k, ok := exponent(sizes[:1], []float64{1}); ok {
		t.Errorf("one size: a power is said to fit: %v", k)
	}
	if k, ok := exponent([]float64{5, 5}, []float64{1, 2}); ok {
		t.Errorf("one size twice: a power is said to fit: %v", k)
	}
}
