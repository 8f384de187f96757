package early

import (
	"strings"
	"testing"
	"time"
)

func TestTheProgramRunsOnAfterItsPagesAreReleased(t *testing.T) {
	stop := ProgramPages().KeepReleased(time.Millisecond)
	if got := strings.Repeat("on ", 3); got != "on on on " {
		t.Errorf("%q", got)
	}
	stop()
}

func TestSpansOfMappingsAreRead(t *testing.T) {
	if begin, end := span("00400000-040f2000"); begin != 0x400000 || end != 0x40f2000 {
		t.Errorf("%x to %x", begin, end)
	}
	if begin, end := span("no-span"); begin != 0 || end != 0 {
		t.Errorf("%x to %x", begin, end)
	}
}
