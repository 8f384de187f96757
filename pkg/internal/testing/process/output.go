package process

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// keptLines is how many lines of standard output wait for a reader.
const keptLines = 64

// lines hands out what is written to it line by line. Where nobody reads, the
// oldest lines go to the log, so that a program is never held up.
type lines struct {
	out  chan string
	log  io.Writer
	next io.Writer

	line []byte
}

func newLines(log, next io.Writer) *lines {
	return &lines{out: make(chan string, keptLines), log: log, next: next}
}

func (l *lines) Write(b []byte) (int, error) {
	n := len(b)
	if l.next != nil {
		if _, err := l.next.Write(b); err != nil {
			return 0, err
		}
	}
	for len(b) > 0 {
		head, rest, whole := bytes.Cut(b, []byte("\n"))
		l.line = append(l.line, head...)
		b = rest
		if !whole {
			break
		}
		if err := l.push(string(l.line)); err != nil {
			return 0, err
		}
		l.line = l.line[:0]
	}
	return n, nil
}

func (l *lines) push(line string) error {
	for {
		select {
		case l.out <- line:
			return nil
		default:
		}
		select {
		case unread := <-l.out:
			if _, err := io.WriteString(l.log, unread+"\n"); err != nil {
				return err
			}
		default:
		}
	}
}

func (l *lines) close() { close(l.out) }

// tail keeps the last bytes written to it and passes all of them on.
type tail struct {
	limit int
	next  io.Writer

	mu      sync.Mutex
	kept    []byte
	dropped bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - t.limit; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
		t.dropped = true
	}
	if t.next != nil {
		return t.next.Write(b)
	}
	return len(b), nil
}

// quote returns what was kept as an appendix to an error message.
func (t *tail) quote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.kept)
	if t.dropped {
		// The first line is cut somewhere: leave it out.
		_, text, _ = strings.Cut(text, "\n")
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "; it wrote nothing"
	}
	return "; its last output:\n\t" + strings.ReplaceAll(text, "\n", "\n\t")
}
