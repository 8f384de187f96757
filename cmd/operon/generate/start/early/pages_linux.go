package early

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Pages are where the program's file is mapped: begin and end of mappings that hold nothing else.
type Pages [][2]uintptr

// ProgramPages finds them.
func ProgramPages() (found Pages) {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
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
			found = append(found, [2]uintptr{begin, end})
			begin, end = 0, 0
		}
	}
	return found
}

// Release gives the pages back to the kernel. The start of a binary of this size touches 60 MB of it, and few of them are the generators'; what is
// needed comes back from the page cache.
func (p Pages) Release() {
	for _, mapping := range p {
		// Without effect where it is refused.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, mapping[0], mapping[1]-mapping[0], syscall.MADV_DONTNEED)
	}
}

// KeepReleased goes on releasing them from time to time, until stop is called and returns.
func (p Pages) KeepReleased(every time.Duration) (stop func()) {
	done := make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() {
		often := time.NewTicker(every)
		defer often.Stop()
		for {
			select {
			case <-often.C:
				p.Release()
			case <-done:
				p.Release()
				return
			}
		}
	})
	return func() {
		close(done)
		keeper.Wait()
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
