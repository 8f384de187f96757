//go:build unix

package controlplane

import (
	"errors"
	"os"
	"syscall"
)

// lockFile opens or makes a file and locks it, or fails at once where another process has it.
func lockFile(path string) (*os.File, error) { return lock(path, syscall.LOCK_EX|syscall.LOCK_NB) }

// awaitLock is lockFile that waits.
func awaitLock(path string) (*os.File, error) { return lock(path, syscall.LOCK_EX) }

func lock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), how); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
