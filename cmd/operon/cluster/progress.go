package cluster

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
)

// progress shows what a start waits for: on a terminal one line that is redrawn, elsewhere a line for each step.
type progress struct {
	mu     sync.Mutex
	out    io.Writer
	began  time.Time
	redraw bool
}

// newProgress writes to out. Component messages on the same stream would tear a redrawn line, so redraw asks for a quiet stream.
func newProgress(out io.Writer, began time.Time, quiet bool) *progress {
	return &progress{out: out, began: began, redraw: quiet && cmdline.OnTerminal(out)}
}

func (p *progress) step(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := fmt.Sprintf("operon cluster: %.1fs starting %s", time.Since(p.began).Seconds(), what)
	if p.redraw {
		fmt.Fprintf(p.out, "\r\x1b[K%s ...", line)
		return
	}
	fmt.Fprintln(p.out, line)
}

func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.redraw {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// shellQuote makes a path safe to paste into a shell.
func shellQuote(path string) string {
	plain := func(r rune) bool {
		return r == '/' || r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
