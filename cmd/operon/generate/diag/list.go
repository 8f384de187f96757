package diag

import (
	"bytes"
	"cmp"
	"fmt"
	"go/token"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Mistake is one thing that is wrong in the input of a generator.
type Mistake struct {
	// Pos is where it is. A mistake without a file is about the run as a whole.
	Pos token.Position
	// Len is how many bytes to underline from Pos on, at most to the end of the line; 0 underlines one.
	Len int
	// What says what is wrong, in lower case.
	What string
	// Fix says what would be right. It may be empty.
	Fix string
	// Refused tells that the source is fine, and the API server would refuse the object that comes of it. Who changes the object before
	// it gets there may allow that.
	Refused bool
}

func (m Mistake) text() string {
	if m.Fix == "" {
		return m.What
	}
	return m.What + ": " + m.Fix
}

// Error is the mistake as file:line:column: what is wrong: what would be right.
func (m Mistake) Error() string {
	if m.Pos.Filename == "" {
		return m.text()
	}
	return m.Pos.String() + ": " + m.text()
}

// List gathers mistakes. The zero value is empty and ready.
type List struct {
	mu       sync.Mutex
	mistakes []Mistake
}

// Add records mistakes.
func (l *List) Add(ms ...Mistake) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mistakes = append(l.mistakes, ms...)
}

// Addf records a mistake at pos.
func (l *List) Addf(pos token.Position, format string, args ...any) {
	l.Add(Mistake{Pos: pos, What: fmt.Sprintf(format, args...)})
}

// TakeRefused takes the mistakes that are about refused objects out of the list, and returns them.
func (l *List) TakeRefused() []Mistake {
	l.mu.Lock()
	defer l.mu.Unlock()
	var taken []Mistake
	l.mistakes = slices.DeleteFunc(l.mistakes, func(m Mistake) bool {
		if m.Refused {
			taken = append(taken, m)
		}
		return m.Refused
	})
	return taken
}

// Empty reports whether nothing was recorded.
func (l *List) Empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.mistakes) == 0
}

// Sorted returns the mistakes by position, each once.
func (l *List) Sorted() []Mistake {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.mistakes)
	slices.SortStableFunc(out, func(a, b Mistake) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.text(), b.text()),
		)
	})
	return slices.CompactFunc(out, func(a, b Mistake) bool { return a.Pos == b.Pos && a.text() == b.text() })
}

// Print writes every mistake, the source line it is on below it, and a line of carets below the words in question. File names below the
// directory dir are printed relative to it.
func (l *List) Print(w io.Writer, dir string) {
	lines := map[string][][]byte{}
	for _, m := range l.Sorted() {
		name := m.Pos.Filename
		if name == "" {
			fmt.Fprintln(w, m.text())
			continue
		}
		fmt.Fprintf(w, "%s: %s\n", shown(m.Pos, dir), m.text())
		if _, read := lines[name]; !read {
			data, err := os.ReadFile(name)
			if err != nil {
				data = nil
			}
			lines[name] = bytes.Split(data, []byte("\n"))
		}
		if m.Pos.Line < 1 || m.Pos.Line > len(lines[name]) {
			continue
		}
		excerpt(w, string(lines[name][m.Pos.Line-1]), m.Pos.Column, m.Len)
	}
}

func excerpt(w io.Writer, line string, column, length int) {
	line = strings.TrimRight(line, "\r")
	if column < 1 || column > len(line)+1 {
		return
	}
	before, rest := line[:column-1], line[column-1:]
	carets := utf8.RuneCountInString(rest[:min(max(length, 1), len(rest))])
	// Tabs are kept, so that the carets line up whatever their width.
	blank := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, before)
	fmt.Fprintf(w, "    %s\n    %s%s\n", line, blank, strings.Repeat("^", max(carets, 1)))
}
