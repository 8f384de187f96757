package main

import (
	"testing"
	"time"
)

// "make bench" is promised to take ten minutes on two cores, and "make bench-quick" two. Both measure the start of the
// cluster besides, in a quarter of a minute.
func TestBudgetsOfTheGroupsAddUpToWhatIsPromised(t *testing.T) {
	names := map[string]bool{}
	var full, quick time.Duration
	for _, g := range groups {
		if names[g.name] {
			t.Errorf("two groups are called %q", g.name)
		}
		names[g.name] = true
		full, quick = full+g.full, quick+g.quick
		if g.full == 0 {
			t.Errorf("%s: no budget, so that it never runs", g.name)
		}
	}
	if full > 530*time.Second {
		t.Errorf("all groups may take %v", full)
	}
	if quick > 115*time.Second {
		t.Errorf("with -quick, all groups may take %v", quick)
	}
}
