package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenRefusesWhatIsNotOurs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "theirs"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir)
	var foreign *ForeignError
	if !errors.As(err, &foreign) {
		t.Fatalf("Open: %v, want a ForeignError", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the directory was touched: %v", entries)
	}
}

func TestOneDirectoryIsOpenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	d := open(t, path)
	_, err := Open(path)
	var inUse *InUseError
	if !errors.As(err, &inUse) || inUse.PID != os.Getpid() {
		t.Fatalf("second Open: %v, want an InUseError of process %d", err, os.Getpid())
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path).Close()
}

func TestMarkAndPortSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	d := open(t, path)
	if !d.Fresh || d.Port() != 0 {
		t.Errorf("new directory: fresh %v, port %d", d.Fresh, d.Port())
	}
	if err := errors.Join(d.Mark("v1.2.3"), d.SetPort(6443), d.Close()); err != nil {
		t.Fatal(err)
	}
	d = open(t, path)
	defer d.Close()
	if d.Fresh || d.Kubernetes != "v1.2.3" || d.Port() != 6443 {
		t.Errorf("used directory: fresh %v, kubernetes %q, port %d", d.Fresh, d.Kubernetes, d.Port())
	}
}

func TestAFirstStartThatWasKilledIsBegunAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	killed := open(t, path)
	if err := os.MkdirAll(killed.Join("etcd", "half"), 0o700); err != nil {
		t.Fatal(err)
	}
	killed.lock.Close() // as the system does for a process that was killed
	d := open(t, path)
	defer d.Close()
	if !d.Fresh {
		t.Error("a cluster that never was is taken for one")
	}
	if _, err := os.Stat(d.Join("etcd")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a cluster is still there: %v", err)
	}
	if _, err := Open(path); err == nil {
		t.Error("the directory is not locked")
	}
}

func TestAPartThatIsLostIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	d := open(t, path)
	if err := d.Whole("etcd"); err != nil {
		t.Errorf("of a new directory: %v", err)
	}
	if err := errors.Join(os.Mkdir(d.Join("pki"), 0o700), d.Mark("v1"), d.Close()); err != nil {
		t.Fatal(err)
	}
	d = open(t, path)
	defer d.Close()
	if err := d.Whole("pki", "etcd"); err == nil || !strings.Contains(err.Error(), "has lost etcd: restore it") {
		t.Errorf("of a directory without a store: %v", err)
	}
}

func TestDiscardLeavesADirectoryAsItWasFound(t *testing.T) {
	parent := t.TempDir()
	d := open(t, filepath.Join(parent, "new"))
	if err := os.WriteFile(d.Join("half"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Discard(); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(parent); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}

	used := filepath.Join(parent, "used")
	d = open(t, used)
	if err := errors.Join(d.Mark("v1"), d.Close()); err != nil {
		t.Fatal(err)
	}
	if err := open(t, used).Discard(); err != nil {
		t.Fatal(err)
	}
	if d := open(t, used); d.Fresh {
		t.Error("Discard emptied a directory that had been used")
	} else {
		d.Close()
	}
}

func TestTemporaryDirectoriesOfDeadProcessesAreSwept(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dead := open(t, "")
	if err := dead.Mark("v1"); err != nil {
		t.Fatal(err)
	}
	dead.lock.Close() // as the system does for a process that was killed
	alive := open(t, "")
	if err := alive.Mark("v1"); err != nil {
		t.Fatal(err)
	}
	next := open(t, "")
	if _, err := os.Stat(dead.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead one's directory: %v", err)
	}
	if _, err := os.Stat(alive.Path); err != nil {
		t.Errorf("the live one's directory: %v", err)
	}
	if err := errors.Join(alive.Close(), next.Close()); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(tmp); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
}

func open(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
