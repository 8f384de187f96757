package early

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// enough is how many bytes of the program a run may have in memory before they are given back, once it has roomy bytes in all, where the
// kernel maps more of them than are touched. What the generators work with is less.
const (
	enough = 16 << 20
	roomy  = 32 << 20
)

// often is how often it is looked how many pages of the program there are in memory.
const often = 500 * time.Microsecond

// programPages are where the program's file is mapped: begin and end of mappings that hold nothing else.
type programPages [][2]uintptr

func findProgramPages() (found programPages) {
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

func span(addresses string) (begin, end uintptr) {
	from, to, _ := strings.Cut(addresses, "-")
	b, err1 := strconv.ParseUint(from, 16, 64)
	e, err2 := strconv.ParseUint(to, 16, 64)
	if err1 != nil || err2 != nil {
		return 0, 0
	}
	return uintptr(b), uintptr(e)
}

// keepFew keeps few of the pages in memory, for as long as the process lives.
func (p programPages) keepFew() {
	if p.mapOneByOne() == nil {
		p.release() // those that came before
		return
	}
	// One more than there are processors, so that the look at the pages does not wait for its turn, which takes 10 ms when all are busy.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	go p.releaseOften()
}

// release gives the pages back to the kernel.
func (p programPages) release() {
	for _, mapping := range p {
		// Without effect where it is refused.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, mapping[0], mapping[1]-mapping[0], syscall.MADV_DONTNEED)
	}
}

// releaseOften looks from time to time how many of them are in memory, and releases them where that is too much. It ends with the process.
func (p programPages) releaseOften() {
	statm, err := os.Open("/proc/self/statm")
	if err != nil {
		return
	}
	for ; ; time.Sleep(often) {
		// While there is little else, files may have the room.
		if all, files := resident(statm); files > enough && all > roomy {
			p.release()
		}
	}
}

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
