package devloop

import (
	"testing"
	"time"
)

func TestAStopwatchNamesThePartsThatTookLong(t *testing.T) {
	s := newStopwatch()
	s.began = s.began.Add(-1400 * time.Millisecond)
	s.parts = []part{{"generate", 110 * time.Millisecond}, {"build", 1200 * time.Millisecond}, {"apply", time.Millisecond}}
	// The total goes on running, so only what follows it is certain.
	const parts = " (generate 0.1s, build 1.2s)"
	if got := s.String(); len(got) <= len(parts) || got[len(got)-len(parts):] != parts {
		t.Errorf("%q does not end with %q", got, parts)
	}
	if got := newStopwatch().String(); got[len(got)-1] != 's' {
		t.Errorf("without parts: %q", got)
	}
	s = newStopwatch()
	s.lap("one")
	s.lap("two")
	if len(s.parts) != 2 || s.parts[0].name != "one" || s.parts[1].name != "two" || s.parts[0].took < 0 {
		t.Errorf("laps: %v", s.parts)
	}
}
