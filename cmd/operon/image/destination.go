package image

// This file holds whether an image can be written to where it is to go, which is known before the minutes of compiling.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// replaceable returns an error unless dir is not there, empty, or a layout.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s is to become an OCI layout, a directory: name another directory with --layout: %w", dir, reason(err))
	}
	if _, err := layout.FromPath(dir); err != nil {
		return fmt.Errorf("%s holds something that is no OCI layout: name another directory with --layout", dir)
	}
	return nil
}

// makeable returns an error unless a directory can be made at path.
func makeable(path string) error {
	parent := filepath.Dir(path)
	err := os.MkdirAll(parent, 0o777)
	if err == nil {
		var scratch string
		if scratch, err = os.MkdirTemp(parent, "."+filepath.Base(path)+"-"); err == nil {
			err = os.Remove(scratch)
		}
	}
	if err != nil {
		return fmt.Errorf("the image cannot be written to %s: make that possible, or name another directory with --layout: %w", path, reason(err))
	}
	return nil
}

// writable returns an error unless a file can be made at path.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is to become a file, but it is a directory: name a file in it with --tarball", path)
	}
	scratch, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("tarball %s cannot be written: make its directory, or name another: %w", path, reason(err))
	}
	return errors.Join(scratch.Close(), os.Remove(scratch.Name()))
}

// reason is what is wrong, without the name of a file that nobody knows.
func reason(err error) error {
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}
