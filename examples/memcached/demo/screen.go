package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/types"
)

// screen is where the demo can be watched. Its methods are called from one goroutine.
type screen interface {
	begin(title, command string) // of a step
	show(snapshot)
	done(took time.Duration) // with the step
	say(text string)
	close() // shows nothing by itself any more; an unfinished step counts as failed; say still works
}

// terminal says whether w is one that can be drawn on, and how wide it is.
func terminal(f *os.File) (width func() int, ok bool) {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) || os.Getenv("TERM") == "dumb" {
		return nil, false
	}
	return func() int {
		if width, _, err := term.GetSize(fd); err == nil && width > 0 {
			return width
		}
		return 80
	}, true
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// plainScreen writes a line for everything that happens.
type plainScreen struct {
	w     io.Writer
	shown map[types.UID]row
	order []types.UID
	step  string
}

func newPlainScreen(w io.Writer) *plainScreen {
	return &plainScreen{w: w, shown: map[types.UID]row{}}
}

func (p *plainScreen) line(format string, args ...any) {
	fmt.Fprintf(p.w, "%s  %s\n", time.Now().Format("15:04:05.000"), fmt.Sprintf(format, args...))
}

func (p *plainScreen) begin(title, command string) {
	p.step = title
	p.line("%s ($ %s)", title, command)
}

func (p *plainScreen) show(now snapshot) {
	rows := now.rows()
	there := map[types.UID]bool{}
	for _, r := range rows {
		there[r.uid] = true
	}
	var order []types.UID
	for _, uid := range p.order {
		if there[uid] {
			order = append(order, uid)
			continue
		}
		p.line("    %s %s: gone", p.shown[uid].kind, p.shown[uid].name)
		delete(p.shown, uid)
	}
	for _, r := range rows {
		old, known := p.shown[r.uid]
		if !known {
			order = append(order, r.uid)
		}
		if old != r {
			p.line("    %s", r)
			p.shown[r.uid] = r
		}
	}
	p.order = order
}

func (p *plainScreen) done(took time.Duration) {
	p.line("  done in %s", seconds(took))
	p.step = ""
}

func (p *plainScreen) say(text string) { fmt.Fprintln(p.w, text) }

func (p *plainScreen) close() {
	if p.step != "" {
		p.line("  not done")
		p.step = ""
	}
}
