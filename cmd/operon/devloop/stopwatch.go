package devloop

import (
	"fmt"
	"strings"
	"time"
)

// A stopwatch tells what the parts of a cycle took.
type stopwatch struct {
	began, last time.Time
	parts       []part
}

type part struct {
	name string
	took time.Duration
}

func newStopwatch() *stopwatch {
	now := time.Now()
	return &stopwatch{began: now, last: now}
}

// lap ends a part, and begins the next.
func (s *stopwatch) lap(name string) {
	now := time.Now()
	s.parts = append(s.parts, part{name, now.Sub(s.last)})
	s.last = now
}

// String is the time since the beginning, and that of the parts that took enough of it to be worth a word.
func (s *stopwatch) String() string {
	var parts []string
	for _, p := range s.parts {
		if p.took >= 50*time.Millisecond {
			parts = append(parts, fmt.Sprintf("%s %.1fs", p.name, p.took.Seconds()))
		}
	}
	total := fmt.Sprintf("%.1fs", time.Since(s.began).Seconds())
	if len(parts) == 0 {
		return total
	}
	return total + " (" + strings.Join(parts, ", ") + ")"
}
