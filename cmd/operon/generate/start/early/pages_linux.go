package early

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ProgramPages are where the program's file is mapped: begin and end of mappings that hold nothing else.
type ProgramPages [][2]uintptr

// FindProgramPages finds them.
func FindProgramPages() (found ProgramPages) {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return nil
	}
	var begin, end uintptr
	for line := range strings.Lines(string(smaps)) {
		fields := strings.Fields(line)
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

// release gives the pages back to the kernel. The start of a binary of this size touches 60 MB of it, and few of them are the generators'; what is
// needed comes back from the page cache.
func (p ProgramPages) release() {
	for _, mapping := range p {
		// Without effect where it is refused.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, mapping[0], mapping[1]-mapping[0], syscall.MADV_DONTNEED)
	}
}

// KeepFew looks from time to time how many of them are in memory, and releases them where that is too much, until stop is called and returns.
func (p ProgramPages) KeepFew(every time.Duration) (stop func()) {
	sizes, err := os.Open("/proc/self/statm")
	if err != nil || len(p) == 0 {
		return func() {}
	}
	for _, mapping := range p {
		// A program that was written just now is in the page cache in pieces of 2 MB, each of which would be mapped as a whole.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, mapping[0], mapping[1]-mapping[0], syscall.MADV_NOHUGEPAGE)
	}
	done := make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() {
		defer sizes.Close()
		often := time.NewTicker(every)
		defer often.Stop()
		for {
			if all, files := resident(sizes); tooMuch(all, files) {
				p.release()
			}
			select {
			case <-often.C:
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		keeper.Wait()
	}
}

// tooMuch tells, of all memory and what of it holds files, whether these are to be released: while there is little else, files may have the room.
func tooMuch(all, files int) bool { return files > Enough && all > Roomy }

// resident is how much memory the process has, and how much of it holds files, by /proc/self/statm.
func resident(statm *os.File) (all, files int) {
	var text [128]byte
	n, _ := statm.ReadAt(text[:], 0) // io.EOF, for it is shorter
	fields := strings.Fields(string(text[:n]))
	if len(fields) < 3 {
		return 0, 0
	}
	all, _ = strconv.Atoi(fields[1])
	files, _ = strconv.Atoi(fields[2])
	return all * os.Getpagesize(), files * os.Getpagesize()
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
