package start

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releasePages gives the pages of the program's file back to the kernel. The start of a binary of this size touches 60 MB of it, and few of
// them are the generators'; what is needed comes back from the page cache. Only mappings that hold nothing but the file are released.
func releasePages() {
	program, err := os.Executable()
	if err != nil {
		return
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer smaps.Close()
	var begin, end uintptr
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 6 && fields[5] == program && strings.HasPrefix(fields[1], "r-") && fields[1][3] == 'p':
			begin, end = span(fields[0])
		case len(fields) >= 5 && strings.Contains(fields[0], "-"):
			begin, end = 0, 0
		case len(fields) == 3 && fields[0] == "Anonymous:" && fields[1] == "0" && end > begin:
			// Without effect where it is refused.
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, begin, end-begin, syscall.MADV_DONTNEED)
			begin, end = 0, 0
		}
	}
}

func span(addresses string) (begin, end uintptr) {
	from, to, _ := strings.Cut(addresses, "-")
	b, err1 := strconv.ParseUint(from, 16, 64)
	e, err2 := strconv.ParseUint(to, 16, 64)
	if err1 != nil || err2 != nil {
		return 0, 0
	}
	return uintptr(b), uintptr(e)
}
