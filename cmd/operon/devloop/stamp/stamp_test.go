package stamp

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAStampChangesWithTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if Of(path) != (Stamp{}) {
		t.Error("a file that is not there has a stamp")
	}
	put := func(text string, modified time.Time) Stamp {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
		return Of(path)
	}
	now := time.Now()
	first := put("one", now)
	if first == (Stamp{}) || first != Of(path) {
		t.Error("the stamp of a file that stays is not the same")
	}
	if put("three", now) == first {
		t.Error("another size has the same stamp")
	}
	if put("two", now.Add(time.Second)) == first {
		t.Error("another time has the same stamp")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if From(info) != Of(path) {
		t.Error("From and Of differ")
	}
}
