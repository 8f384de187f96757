package difftest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Tree is a directory of source whose original state is kept, so that programs can run in it one after the other. It keeps it on disk: the
// peak memory that the system reports for a program counts that of the process that started it, which has to stay small.
type Tree struct {
	// Dir is where programs run.
	Dir      string
	original string
	sums     map[string]sum
}

type sum [sha256.Size]byte

// NewTree keeps a copy of a directory in another, which must not exist yet.
func NewTree(dir, original string) (*Tree, error) {
	if err := os.CopyFS(original, os.DirFS(dir)); err != nil {
		return nil, err
	}
	sums, err := read(dir)
	if err != nil {
		return nil, err
	}
	return &Tree{Dir: dir, original: original, sums: sums}, nil
}

// Changes returns the files that differ from the original state; one that is gone is nil.
func (t *Tree) Changes() (map[string][]byte, error) {
	now, err := read(t.Dir)
	if err != nil {
		return nil, err
	}
	changes := map[string][]byte{}
	for path, s := range now {
		if was, ok := t.sums[path]; ok && was == s {
			continue
		}
		if changes[path], err = os.ReadFile(filepath.Join(t.Dir, path)); err != nil {
			return nil, err
		}
	}
	for path := range t.sums {
		if _, ok := now[path]; !ok {
			changes[path] = nil
		}
	}
	return changes, nil
}

// Restore brings the original state back.
func (t *Tree) Restore() error {
	changes, err := t.Changes()
	if err != nil {
		return err
	}
	for path := range changes {
		name := filepath.Join(t.Dir, path)
		if _, ok := t.sums[path]; !ok {
			err = os.Remove(name)
		} else {
			var was []byte
			if was, err = os.ReadFile(filepath.Join(t.original, path)); err == nil {
				err = os.WriteFile(name, was, 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read returns the checksums of a directory's files by their paths.
func read(dir string) (map[string]sum, error) {
	files := map[string]sum{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		path, err := filepath.Rel(dir, name)
		// The go command may bring these two up to date: that is no program's output.
		if err != nil || path == "go.mod" || path == "go.sum" {
			return err
		}
		data, err := os.ReadFile(name)
		files[path] = sha256.Sum256(data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	return files, nil
}
