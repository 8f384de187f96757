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
	if all, files := resident(statm); files <= 0 || all < files {
		t.Errorf("%d bytes, %d of them of files", all, files)
	}
}

func TestFilesMayHaveTheRoomThatNothingElseNeeds(t *testing.T) {
	for _, tt := range []struct {
		all, files int
		want       bool
	}{
		{Roomy, Roomy, false}, {Roomy + 1, Roomy, true}, {2 * Roomy, Enough, false}, {2 * Roomy, Enough + 1, true},
	} {
		if got := tooMuch(tt.all, tt.files); got != tt.want {
			t.Errorf("%d bytes, %d of them of files: %t, want %t", tt.all, tt.files, got, tt.want)
		}
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
