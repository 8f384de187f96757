package cache

import (
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Entry is the place for the record of one kind of run.
type Entry struct{ path string }

// record is what is stored. A change of its meaning needs another format.
type record struct {
	Format  int
	Made    time.Time
	Message string
	Paths   []state
}

const format = 1

// state is a file or directory at the time of the record.
type state struct {
	Path string
	// Kind is absent, file or directory.
	Kind kind
	Size int64
	Time int64
	Sum  [sha256.Size]byte
}

type kind uint8

const (
	absent kind = iota
	file
	directory
)

// Open returns the entry for a key. The directory is where entries lie; empty means one in the user's cache directory.
func Open(dir string, key ...string) (*Entry, error) {
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(base, "operon", "generate")
	}
	sum := sha256.Sum256([]byte(strings.Join(key, "\x00")))
	return &Entry{path: filepath.Join(dir, hex.EncodeToString(sum[:16]))}, nil
}

// Fresh reports whether nothing changed since the record was saved, and returns the message that was saved with it.
func (e *Entry) Fresh() (message string, ok bool) {
	f, err := os.Open(e.path)
	if err != nil {
		return "", false
	}
	defer f.Close()
	var r record
	if err := gob.NewDecoder(f).Decode(&r); err != nil || r.Format != format {
		return "", false
	}
	for _, s := range r.Paths {
		if !s.unchanged(r.Made) {
			return "", false
		}
	}
	return r.Message, true
}

// unchanged compares a path with how it was. A time that is too near the record's tells nothing: a later change may have the same.
func (s state) unchanged(made time.Time) bool {
	info, err := os.Lstat(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.Kind == absent
	case err != nil, kindOf(info) != s.Kind:
		return false
	case s.Kind == file && info.Size() != s.Size:
		return false
	case info.ModTime().UnixNano() == s.Time && made.Sub(info.ModTime()) > 2*time.Second:
		return true
	}
	now, err := observe(s.Path)
	return err == nil && now.Sum == s.Sum
}

func kindOf(info fs.FileInfo) kind {
	if info.IsDir() {
		return directory
	}
	return file
}

// observe records a path as it is.
func observe(path string) (state, error) {
	s := state{Path: path}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.Kind, s.Size, s.Time = kindOf(info), info.Size(), info.ModTime().UnixNano()
	if s.Kind == directory {
		entries, err := os.ReadDir(path)
		if err != nil {
			return s, err
		}
		var names strings.Builder
		for _, entry := range entries {
			names.WriteString(entry.Name())
			names.WriteByte(0)
		}
		s.Sum = sha256.Sum256([]byte(names.String()))
		return s, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	s.Sum = sha256.Sum256(data)
	return s, nil
}

// Save records a run that ended now: the paths that it depended on or wrote, and a message for runs that are left out.
func (e *Entry) Save(message string, paths []string) error {
	r := record{Format: format, Made: time.Now(), Message: message}
	for _, path := range paths {
		s, err := observe(path)
		if err != nil {
			return err
		}
		r.Paths = append(r.Paths, s)
	}
	return replace(e.path, func(w *os.File) error { return gob.NewEncoder(w).Encode(r) })
}
