package origin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindKnowsTheCheckoutItWasCompiledFrom(t *testing.T) {
	got, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if got.Dir == "" || !isCheckout(got.Dir) {
		t.Errorf("Find: %+v", got)
	}
}

func TestAtTakesCheckoutsOnly(t *testing.T) {
	dir := t.TempDir()
	if _, err := At(dir); err == nil || !strings.Contains(err.Error(), "is not a checkout of "+Library) {
		t.Errorf("an empty directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+Library+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := At(dir); err != nil || got.Dir != dir {
		t.Errorf("At: %+v, %v", got, err)
	}
	below := filepath.Join(dir, "bin")
	if got := above(below); got != dir {
		t.Errorf("above(%s) = %q", below, got)
	}
}
