package controlplane

import (
	"errors"
	"os"
	"path/filepath"
)

const scratchPrefix = "operon-envtest-"

// scratch is a temporary directory that is made when it is first needed. It is
// locked as long as it is in use, so that those of killed processes can be told and removed.
type scratch struct {
	// below is a directory that somebody else removes when this process is
	// killed. Empty means that of the system.
	below string

	dir  string
	lock *os.File
}

const scratchLock = "lock"

// path returns the directory and makes it where there is none yet.
func (s *scratch) path() (string, error) {
	if s.dir != "" {
		return s.dir, nil
	}
	if s.below == "" {
		if err := sweep(); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp(s.below, scratchPrefix)
	if err != nil {
		return "", err
	}
	lock, err := lockFile(filepath.Join(dir, scratchLock))
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	s.dir, s.lock = dir, lock
	return dir, nil
}

func (s *scratch) remove() error {
	if s.dir == "" {
		return nil
	}
	err := errors.Join(os.RemoveAll(s.dir), s.lock.Close())
	s.dir, s.lock = "", nil
	return err
}

// sweep removes the directories of processes that were killed: those whose lock nobody holds.
func sweep() error {
	locks, err := filepath.Glob(filepath.Join(os.TempDir(), scratchPrefix+"*", scratchLock))
	if err != nil {
		return err
	}
	for _, path := range locks {
		// What cannot be locked is in use, or somebody else's.
		if lock, err := lockFile(path); err == nil {
			_ = os.RemoveAll(filepath.Dir(path))
			_ = lock.Close()
		}
	}
	return nil
}
