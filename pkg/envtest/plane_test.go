package envtest

import (
	"bytes"
	"strings"
	"testing"
)

func TestReadyLineIsSeenHoweverItArrives(t *testing.T) {
	for name, writes := range map[string][]string{
		"whole":       {"ready: go on\n"},
		"in pieces":   {"re", "ady", " now", "\n"},
		"after noise": {"one\ntwo\nrea", "dy\nthree\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			r := &readyLine{seen: make(chan struct{}), log: &log}
			for i, w := range writes {
				if n, err := r.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write %d = %d, %v", i, n, err)
				}
			}
			select {
			case <-r.seen:
			default:
				t.Error("not seen")
			}
			if name == "after noise" && log.String() != "one\ntwo\nthree\n" {
				t.Errorf("log = %q", log.String())
			}
		})
	}
}

func TestTailKeepsWholeLastLines(t *testing.T) {
	var all bytes.Buffer
	log := &tail{limit: 20, next: &all}
	for range 10 {
		if _, err := log.Write([]byte("12345678\n")); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := log.quote(), "; its last output:\n\t12345678\n\t12345678"; got != want {
		t.Errorf("quote = %q, want %q", got, want)
	}
	if strings.Count(all.String(), "\n") != 10 {
		t.Error("not everything was passed on")
	}
}
