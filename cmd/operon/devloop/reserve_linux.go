package devloop

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// reserve makes a thing this loop's among those on this machine, until the result is closed or the process ends, or returns errTaken. What
// holds it is a name among the kernel's abstract sockets, which leaves nothing behind and is of the same network namespace as ports are.
func reserve(thing string) (io.Closer, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("@operon-run-%x", sha256.Sum256([]byte(thing)))})
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errTaken
	}
	return l, err
}
