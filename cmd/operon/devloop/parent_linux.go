package devloop

import "syscall"

// dieWithParent lets the kernel end the process when the loop dies without having done so.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
