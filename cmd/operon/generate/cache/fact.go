package cache

import (
	"os"
	"path/filepath"
)

// Fact is the place for something that follows from its key alone, so that it is right for as long as it is there.
type Fact struct{ path string }

// OpenFact returns the place of a fact. The directory is as for [Open].
func OpenFact(dir string, key ...string) (*Fact, error) {
	entry, err := Open(dir, append([]string{"fact"}, key...)...)
	if err != nil {
		return nil, err
	}
	return &Fact{path: entry.path}, nil
}

// Recall returns what was kept; false where nothing was.
func (f *Fact) Recall() ([]byte, bool) {
	data, err := os.ReadFile(f.path)
	return data, err == nil
}

// Keep keeps data for the next time.
func (f *Fact) Keep(data []byte) error {
	return replace(f.path, func(w *os.File) error {
		_, err := w.Write(data)
		return err
	})
}

// replace writes a file in one step.
func replace(path string, write func(*os.File) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".new.*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	err = write(temp)
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
