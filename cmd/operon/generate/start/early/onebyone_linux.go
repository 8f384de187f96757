package early

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// mapOneByOne has the kernel map of these pages those that are touched, and no others, for as long as the process lives.
//
// Otherwise it maps the neighbours with each: 64 kB around it, and since Linux 6.18 all of the piece in which it is in the page cache, which is up
// to 2 MB of a program that was written just now. What switches that off, short of a kernel's settings for all, is that somebody wants to know
// about each page that is written: userfaultfd with the kernel taking note by itself (Linux 6.7). Nobody ever writes to these pages, nor asks.
//
// It returns an error where there is no such thing, or where it is forbidden, as it is in many a container.
func (p programPages) mapOneByOne() error {
	// By linux/userfaultfd.h and linux/sched.h; none of it is in Go's syscall.
	const (
		userModeOnly = 1       // what a user may who is not root
		version      = 0xaa    // UFFD_API
		takeNote     = 1 << 15 // UFFD_FEATURE_WP_ASYNC
		written      = 1 << 1  // UFFDIO_REGISTER_MODE_WP
		handshake    = 0xc018aa3f
		register     = 0xc020aa00
	)
	number, ok := map[string]uintptr{"amd64": 323, "arm64": 282, "riscv64": 282, "loong64": 282}[runtime.GOARCH]
	if !ok {
		return errors.ErrUnsupported
	}
	// It stays open: with it all of this would end.
	fd, _, errno := syscall.Syscall(number, userModeOnly|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0, 0)
	if errno != 0 {
		return fmt.Errorf("userfaultfd: %w", errno)
	}
	ask := func(what uintptr, argument unsafe.Pointer) error {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, what, uintptr(argument)); errno != 0 {
			return errors.Join(fmt.Errorf("userfaultfd, request %x: %w", what, errno), syscall.Close(int(fd)))
		}
		return nil
	}
	if err := ask(handshake, unsafe.Pointer(&[3]uint64{version, takeNote})); err != nil {
		return err
	}
	for _, mapping := range p {
		begin, size := mapping[0], mapping[1]-mapping[0]
		if err := ask(register, unsafe.Pointer(&[4]uint64{uint64(begin), uint64(size), written})); err != nil {
			return err
		}
		// Pieces of 2 MB are mapped as such, regardless, where this does not forbid it.
		if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, begin, size, syscall.MADV_NOHUGEPAGE); errno != 0 && errno != syscall.EINVAL {
			return errors.Join(fmt.Errorf("madvise: %w", errno), syscall.Close(int(fd)))
		}
	}
	return nil
}
