//go:build !unix

package controlplane

import "os"

// lockFile relies on an open file being one that nobody else can remove.
func lockFile(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }

// awaitLock is the same: two builds at once cost time, not correctness.
func awaitLock(path string) (*os.File, error) { return lockFile(path) }
