package early

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestTheProgramRunsOnAfterItsPagesAreReleased(t *testing.T) {
	pages := FindProgramPages()
	if len(pages) == 0 {
		t.Fatal("the program is mapped nowhere")
	}
	pages.release()
	stop := pages.KeepFew(time.Millisecond)
	if got := strings.Repeat("on ", 3); got != "on on on " {
		t.Errorf("%q", got)
	}
	stop()
}

func TestTheSizeOfFilesInMemoryIsKnown(t *testing.T) {
	statm, err := os.Open("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	defer statm.Close()
	if got := ofFiles(statm); got <= 0 {
		t.Errorf("%d bytes", got)
	}
}

func TestSpansOfMappingsAreRead(t *testing.T) {
	if begin, end := span("00400000-040f2000"); begin != 0x400000 || end != 0x40f2000 {
		t.Errorf("%x to %x", begin, end)
	}
	if begin, end := span("no-span"); begin != 0 || end != 0 {
		t.Errorf("%x to %x", begin, end)
	}
}
