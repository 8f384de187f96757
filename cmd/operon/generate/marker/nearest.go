package marker

import "strings"

// Nearest returns the candidate that name was probably meant to be, or "". Upper and lower case do not count.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", max(2, len(name)/4)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c), bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// Distance counts the letters to insert, drop or replace to get from a to b.
func Distance(a, b string) int { return distance(a, b, len(a)+len(b)+1) }

// distance counts the letters to insert, drop or replace to get from a to b; it gives up at limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	previous, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(previous[j]+cost, previous[j+1]+1, row[j]+1)
			least = min(least, row[j+1])
		}
		if least >= limit {
			return limit
		}
		previous, row = row, previous
	}
	return previous[len(b)]
}
