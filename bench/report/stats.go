package report

import (
	"math"
	"slices"
)

// summary is what a table shows of the rounds of one contender.
type summary struct {
	Median float64 `json:"median"`
	Q1     float64 `json:"q1"`
	Q3     float64 `json:"q3"`
}

// summarize returns the zero summary for no samples. A quartile between two
// samples is on the line through them. The samples keep their order.
func summarize(samples []float64) summary {
	if len(samples) == 0 {
		return summary{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	return summary{Median: Quantile(sorted, 0.5), Q1: Quantile(sorted, 0.25), Q3: Quantile(sorted, 0.75)}
}

// Quantile returns the sample below which a share q of all lie, on the line between two where none is there. It takes at least one, in order.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below == len(sorted)-1 {
		return sorted[below]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

// ratio returns a/b, and false where b is zero.
func ratio(a, b float64) (float64, bool) {
	if b == 0 {
		return 0, false
	}
	return a / b, true
}

// exponent returns the k with which y grows as size to the power of k: the slope
// of the straight line that fits best where both axes are logarithmic. It is false
// for fewer than two sizes, and where a value is not positive.
func exponent(sizes, values []float64) (float64, bool) {
	if len(sizes) < 2 {
		return 0, false
	}
	var x, y, xx, xy float64
	for i := range sizes {
		if sizes[i] <= 0 || values[i] <= 0 {
			return 0, false
		}
		a, b := math.Log(sizes[i]), math.Log(values[i])
		x, y, xx, xy = x+a, y+b, xx+a*a, xy+a*b
	}
	n := float64(len(sizes))
	spread := n*xx - x*x
	if spread == 0 {
		return 0, false
	}
	return (n*xy - x*y) / spread, true
}
