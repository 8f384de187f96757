package migrate

import (
	"errors"
	"testing"
)

func TestOfWhatGoSaysTheLineThatTellsMostIsPassedOn(t *testing.T) {
	for said, want := range map[string]string{
		"go: finding module for package x\ngo: x: module y: reading https://proxy/y.mod: 403 Forbidden\n\tserver response: not available\n": "go: x: module y: reading https://proxy/y.mod: 403 Forbidden",
		"go: p imports\n\tq: ambiguous import: found package q in multiple modules:\n\tq v1.0.0 (/mod/q)\n\tq/r v1.1.0 (/mod/q/r)\n":        "q: ambiguous import: found package q in multiple modules: q v1.0.0 (/mod/q) q/r v1.1.0 (/mod/q/r)",
		"server response: not available": "server response: not available",
	} {
		if got := lastLine(errors.New(said)); got.Error() != want {
			t.Errorf("of\n%s\n%q is passed on, not %q", said, got, want)
		}
	}
	if got := lastLine(nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}
