package main

import (
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
		"odd, unsorted":   {[]float64{9, 1, 4}, summary{4, 1, 9}},
		"even, unsorted":  {[]float64{8, 1, 2, 4}, summary{3, 1, 8}},
		"outlier":         {[]float64{1, 1, 1, 1000, 1}, summary{1, 1, 1000}},
		"negative, zeros": {[]float64{0, -2, 0}, summary{0, -2, 0}},
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
		target     target
		ours, peer float64
		want       bool
	}{
		"ratio at its bound":         {atMostRatio(0.5), 5, 10, true},
		"ratio above":                {atMostRatio(0.5), 5.1, 10, false},
		"ratio to zero":              {atMostRatio(0.5), 1, 0, false},
		"nothing against nothing":    {atMostRatio(0.5), 0, 0, true},
		"value at its bound":         {atMost(50), 50, 1, true},
		"value above, peer is worse": {atMost(50), 51, 1000, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.target.met(test.ours, test.peer); got != test.want {
				t.Errorf("%v.met(%v, %v) = %v", test.target, test.ours, test.peer, got)
			}
		})
	}
}
