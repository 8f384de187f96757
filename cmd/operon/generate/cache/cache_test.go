package cache_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/operon-dev/operon/cmd/operon/generate/cache"
)

func TestAnEntryIsFreshUntilAnInputOrOutputChanges(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for name, tt := range map[string]struct {
		change func(t *testing.T, dir string)
		fresh  bool
	}{
		"nothing changed":           {func(*testing.T, string) {}, true},
		"only the time changed":     {func(t *testing.T, dir string) { chtimes(t, filepath.Join(dir, "in.go"), time.Now()) }, true},
		"an input changed":          {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "in.go"), "longer") }, false},
		"same size, other content":  {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "in.go"), "b") }, false},
		"an output is gone":         {func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "out.yaml")) }, false},
		"a file came to the folder": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "new.go"), "") }, false},
		"a missing file appeared":   {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "..", "go.work"), "") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "module")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			in, out, absent := filepath.Join(dir, "in.go"), filepath.Join(dir, "out.yaml"), filepath.Join(dir, "..", "go.work")
			write(t, in, "a")
			write(t, out, "o")
			for _, path := range []string{in, out, dir} {
				chtimes(t, path, old)
			}
			entry, err := cache.Open(t.TempDir(), "key")
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := entry.Fresh(); ok {
				t.Fatal("an entry that was never saved is fresh")
			}
			if err := entry.Save("a warning", []string{in, out, dir, absent}); err != nil {
				t.Fatal(err)
			}
			tt.change(t, dir)
			message, ok := entry.Fresh()
			if ok != tt.fresh {
				t.Errorf("fresh is %v, want %v", ok, tt.fresh)
			}
			if ok && message != "a warning" {
				t.Errorf("the message is %q", message)
			}
		})
	}
}

func TestADamagedRecordIsNotFresh(t *testing.T) {
	dir := t.TempDir()
	entry, err := cache.Open(dir, "key")
	if err != nil {
		t.Fatal(err)
	}
	if err := entry.Save("", nil); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	write(t, names[0], "damaged")
	if _, ok := entry.Fresh(); ok {
		t.Error("it is fresh")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func chtimes(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestAFactIsKeptForItsKeyAlone(t *testing.T) {
	dir := t.TempDir()
	fact := func(key string) *cache.Fact {
		f, err := cache.OpenFact(dir, key)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if _, ok := fact("a").Recall(); ok {
		t.Fatal("a fact that was never kept is there")
	}
	if err := fact("a").Keep([]byte("it is so")); err != nil {
		t.Fatal(err)
	}
	if data, ok := fact("a").Recall(); !ok || string(data) != "it is so" {
		t.Errorf("%q, %v", data, ok)
	}
	if _, ok := fact("b").Recall(); ok {
		t.Error("another key has the same fact")
	}
}
