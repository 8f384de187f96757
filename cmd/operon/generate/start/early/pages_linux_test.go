package early

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

func TestTheProgramRunsOnAfterItsPagesAreReleased(t *testing.T) {
	pages := findProgramPages()
	if len(pages) == 0 {
		t.Fatal("the program is mapped nowhere")
	}
	pages.release()
	if got := strings.Repeat("on ", 3); got != "on on on " {
		t.Errorf("%q", got)
	}
}

func TestTheSizeOfFilesInMemoryIsKnown(t *testing.T) {
	statm, err := os.Open("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	defer statm.Close()
	if all, files := resident(statm); files <= 0 || all < files {
		t.Errorf("%d bytes, %d of them of files", all, files)
	}
}

func TestOnlyPagesThatAreTouchedAreMapped(t *testing.T) {
	const size = 16 << 20
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	memory, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(memory)
	begin := uintptr(unsafe.Pointer(&memory[0]))
	if err := (programPages{{begin, begin + size}}).mapOneByOne(); err != nil {
		t.Skipf("this kernel has no such thing, or forbids it: %v", err)
	}
	statm, err := os.Open("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	defer statm.Close()
	_, before := resident(statm)
	sum := byte(0)
	for at := 0; at < size; at += 64 << 10 {
		sum += memory[at]
	}
	if _, after := resident(statm); sum != 0 || after-before > size/4 {
		t.Errorf("%d bytes are mapped after %d pages were touched", after-before, size/(64<<10))
	}
}
