package process

import "syscall"

// childAttributes ties the child's life to ours, and keeps it out of the
// terminal's process group: an interrupt ends the test first, which then stops
// its control plane.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
}
