//go:build !linux

package process

import "syscall"

// childAttributes has nothing to add here: the child ends when its standard
// input does.
func childAttributes() *syscall.SysProcAttr {
	return nil
}
