//go:build !linux

package devloop

import "syscall"

// dieWithParent does nothing where the kernel has no such service: a killed loop leaves its manager running there.
func dieWithParent(*syscall.SysProcAttr) {}
