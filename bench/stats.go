package main

import "slices"

// summary is what a table shows of the rounds of one contender.
type summary struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// summarize returns the zero summary for no samples. Of an even number of
// samples, the median is the mean of the middle two. The samples keep their order.
func summarize(samples []float64) summary {
	if len(samples) == 0 {
		return summary{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return summary{Median: median, Min: sorted[0], Max: sorted[len(sorted)-1]}
}

// ratio returns a/b, and false where b is zero.
func ratio(a, b float64) (float64, bool) {
	if b == 0 {
		return 0, false
	}
	return a / b, true
}
