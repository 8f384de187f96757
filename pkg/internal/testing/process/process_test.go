//go:build unix

package process

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shell is a program that runs a script.
func shell(script string, ready func(context.Context, <-chan string) error) Command {
	return Command{Name: "sh", Path: "/bin/sh", Args: []string{"-c", script}, Ready: ready}
}

// says is ready when the program says the word.
func says(word string) func(context.Context, <-chan string) error {
	return func(ctx context.Context, lines <-chan string) error {
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case line, more := <-lines:
				if !more {
					return ErrOutputEnded
				}
				if line == word {
					return nil
				}
			}
		}
	}
}

func TestAProcessEndsWhenAsked(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		// before is sent, and makes it end, before it is asked to.
		before string
		ask    func(*Process) error
		says   string
	}{
		"by its input":               {script: "echo ready; cat >/dev/null", ask: CloseStdin},
		"by a signal":                {script: "echo ready; exec sleep 60", ask: Interrupt},
		"by a signal, with a word":   {script: "trap 'exit 0' INT; echo ready; while :; do sleep 0.01; done", ask: Interrupt},
		"badly":                      {script: "echo ready; cat >/dev/null; echo no space left >&2; exit 3", ask: CloseStdin, says: "stopped badly (exit status 3); its last output:\n\tno space left"},
		"not at all, and is killed":  {script: "trap '' INT; echo ready; while :; do sleep 0.01; done", ask: Interrupt, says: "did not stop within 300ms and was killed"},
		"by itself, before it ought": {script: "echo ready; read order; exit 4", before: "end\n", ask: CloseStdin, says: "had ended by itself (exit status 4)"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Start(t.Context(), shell(tc.script, says("ready")))
			if err != nil {
				t.Fatal(err)
			}
			if tc.before != "" {
				if err := p.Send(tc.before); err != nil {
					t.Fatal(err)
				}
				<-p.Ended()
			}
			timeout := 300 * time.Millisecond
			if !strings.Contains(tc.says, "killed") {
				timeout = time.Minute
			}
			err = p.Stop(tc.ask, timeout)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error = %v, want %q", err, tc.says)
			}
			if err := syscall.Kill(p.PID(), 0); err != syscall.ESRCH {
				t.Errorf("the process is still there: %v", err)
			}
			if err := p.Stop(tc.ask, timeout); err == nil || !strings.Contains(err.Error(), "had ended by itself") {
				t.Errorf("second Stop: %v", err)
			}
		})
	}
}

func TestAStartThatFailsLeavesNoProcess(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		ready  func(context.Context, <-chan string) error
		says   []string
	}{
		"it ends":           {"echo starting; echo port in use >&2; exit 3", says("ready"), []string{"ended before it was ready (exit status 3)", "port in use"}},
		"it is never ready": {"echo starting >&2; exec sleep 60", says("ready"), []string{"not ready in time", "starting"}},
		"it is not what was wanted": {"exec sleep 60", func(context.Context, <-chan string) error { return errors.New("the wrong version") },
			[]string{"sh: the wrong version"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := Start(ctx, shell(tc.script, tc.ready))
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range tc.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
	if _, err := Start(t.Context(), Command{Name: "none", Path: "/nonexistent/program"}); err == nil || !strings.Contains(err.Error(), "/nonexistent/program") {
		t.Errorf("error = %v", err)
	}
}

func TestAConversationTakesPlaceLineByLine(t *testing.T) {
	p, err := Start(t.Context(), shell("echo ready; while read line; do echo heard $line; done", says("ready")))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"one", "two"} {
		if err := p.Send(word + "\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-p.Lines(); got != "heard "+word {
			t.Errorf("answer = %q", got)
		}
	}
	if err := p.Stop(CloseStdin, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestLinesArriveWholeHoweverTheyAreWritten(t *testing.T) {
	for name, writes := range map[string][]string{
		"whole":     {"one\ntwo\n"},
		"in pieces": {"o", "ne\nt", "wo", "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			l := newLines(&log, nil)
			for i, w := range writes {
				if n, err := l.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write %d = %d, %v", i, n, err)
				}
			}
			if a, b := <-l.out, <-l.out; a != "one" || b != "two" {
				t.Errorf("lines %q and %q", a, b)
			}
		})
	}
}

func TestAProgramIsNotHeldUpWhereNobodyReads(t *testing.T) {
	var log, all bytes.Buffer
	l := newLines(&log, &all)
	for range keptLines + 3 {
		if _, err := l.Write([]byte("line\n")); err != nil {
			t.Fatal(err)
		}
	}
	if log.String() != "line\nline\nline\n" || len(l.out) != keptLines {
		t.Errorf("log %q, %d lines kept", log.String(), len(l.out))
	}
	if strings.Count(all.String(), "\n") != keptLines+3 {
		t.Error("not everything was passed on")
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
