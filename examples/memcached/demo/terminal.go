package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"
)

const redrawEvery = 100 * time.Millisecond

// The colours, as terminals number them.
const (
	plain  = ""
	red    = "31"
	green  = "32"
	yellow = "33"
	faint  = "2"
	bold   = "1"
)

var toneColours = map[tone]string{settled: green, moving: yellow, leaving: faint, broken: red}
var toneMarks = map[tone]string{settled: "●", moving: "◐", leaving: "○", broken: "✗"}

// terminalScreen keeps a picture of the objects below the list of steps, and redraws it.
type terminalScreen struct {
	w       io.Writer
	width   func() int
	colours bool
	stop    chan struct{}
	ended   chan struct{}
	once    sync.Once

	mu      sync.Mutex
	title   string // of the step under way; empty between two of them
	command string
	began   time.Time
	before  []row // what there was when the step began
	rows    []row // what there is
	drawn   int   // lines that the next drawing replaces
}

func newTerminalScreen(w io.Writer, width func() int) *terminalScreen {
	t := &terminalScreen{w: w, width: width, colours: os.Getenv("NO_COLOR") == "", stop: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(t.ended)
		ticker := time.NewTicker(redrawEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				t.mu.Lock()
				t.redraw()
				t.mu.Unlock()
			case <-t.stop:
				return
			}
		}
	}()
	return t
}

func (t *terminalScreen) begin(title, command string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.title, t.command, t.began = title, command, time.Now()
	t.before = t.rows
	t.redraw()
}

func (t *terminalScreen) show(now snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = now.rows()
	t.redraw()
}

func (t *terminalScreen) done(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle("✓", green, took)
}

func (t *terminalScreen) say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.w, "\n%s\n", text)
}

func (t *terminalScreen) close() {
	t.once.Do(func() {
		close(t.stop)
		<-t.ended
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.title != "" {
			t.settle("✗", red, time.Since(t.began))
		}
		t.drawn = 0
	})
}

// settle moves the step that is under way to the list above the picture.
func (t *terminalScreen) settle(mark, colour string, took time.Duration) {
	var b strings.Builder
	t.erase(&b)
	t.stepLine(&b, mark, colour, took)
	io.WriteString(t.w, b.String())
	t.title = ""
	t.redraw()
}

func (t *terminalScreen) erase(b *strings.Builder) {
	if t.drawn > 0 {
		fmt.Fprintf(b, "\x1b[%dA\r\x1b[J", t.drawn)
	}
	t.drawn = 0
}

func (t *terminalScreen) redraw() {
	var b strings.Builder
	t.erase(&b)
	if t.title != "" {
		frames := []string{"◜", "◝", "◞", "◟"}
		frame := frames[int(time.Since(t.began)/redrawEvery)%len(frames)]
		t.stepLine(&b, frame, yellow, time.Since(t.began))
		t.drawn++
	}
	rows := t.picture()
	if len(rows) > 0 {
		b.WriteString("\n")
		t.drawn++
	}
	kinds, names := 0, 0
	for _, r := range rows {
		kinds, names = max(kinds, len(r.kind)), max(names, len(r.name))
	}
	for _, r := range rows {
		colour := toneColours[r.tone]
		name := plain
		if r.tone == leaving {
			name = faint
		}
		t.line(&b,
			part{"  " + toneMarks[r.tone] + " ", colour}, part{fmt.Sprintf("%-*s  ", kinds, r.kind), bold},
			part{fmt.Sprintf("%-*s  ", names, r.name), name}, part{r.state, colour})
		t.drawn++
	}
	io.WriteString(t.w, b.String())
}

// picture is what there is, with what came and what went in this step marked: much of it happens too fast to be seen.
func (t *terminalScreen) picture() []row {
	was := map[types.UID]bool{}
	for _, r := range t.before {
		was[r.uid] = true
	}
	is := map[types.UID]bool{}
	var rows []row
	for _, r := range t.rows {
		is[r.uid] = true
		if len(t.before) > 0 && !was[r.uid] {
			r.state += ", new"
		}
		rows = append(rows, r)
	}
	for _, r := range t.before {
		if !is[r.uid] {
			r.state, r.tone = "gone", leaving
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return slices.Index(kindOrder, a.kind) - slices.Index(kindOrder, b.kind) })
	return rows
}

func (t *terminalScreen) stepLine(b *strings.Builder, mark, colour string, took time.Duration) {
	t.line(b, part{mark + " ", colour}, part{t.title, bold}, part{"  " + seconds(took), colour}, part{"  $ " + t.command, faint})
}

type part struct{ text, colour string }

// line writes the parts, as far as they fit the width: a line that wraps would spoil the next drawing.
func (t *terminalScreen) line(b *strings.Builder, parts ...part) {
	room := t.width() - 1
	for _, p := range parts {
		text := p.text
		if n := utf8.RuneCountInString(text); n > room {
			text = string([]rune(text)[:room])
		}
		room -= utf8.RuneCountInString(text)
		if p.colour == plain || !t.colours || text == "" {
			b.WriteString(text)
			continue
		}
		fmt.Fprintf(b, "\x1b[%sm%s\x1b[0m", p.colour, text)
	}
	b.WriteString("\n")
}
