package gobuild

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	redrawEvery = 100 * time.Millisecond // on a terminal
	reportEvery = 10 * time.Second       // elsewhere
	lineWidth   = 79
	barWidth    = 20
)

// meter shows the progress of one build. Its methods may be called from several goroutines.
type meter struct {
	w        io.Writer
	terminal bool
	name     string
	patience time.Duration
	start    time.Time

	done, ended chan struct{}
	stopOnce    sync.Once

	mu         sync.Mutex
	downloads  int
	module     string // the one that is downloaded
	current    string // the package that was begun last
	begun      map[string]bool
	total      int // of packages to compile; 0 while it isn't known
	root       string
	lineOnTerm bool
	said       strings.Builder
}

// startMeter returns a meter that draws until it is stopped, from the end of patience on.
func startMeter(w io.Writer, name string, patience time.Duration) *meter {
	m := &meter{
		w: w, terminal: isTerminal(w), name: name, patience: patience, start: time.Now(),
		begun: map[string]bool{}, done: make(chan struct{}), ended: make(chan struct{}),
	}
	every := reportEvery
	if m.terminal {
		every = redrawEvery
	}
	first := every
	if patience > 0 {
		first = min(first, patience) // who waits learns at once that there is something to wait for
	}
	go func() {
		defer close(m.ended)
		ticker := time.NewTicker(first)
		defer ticker.Stop()
		for {
			select {
			case <-m.done:
				return
			case <-ticker.C:
				m.draw()
				ticker.Reset(every)
			}
		}
	}()
	return m
}

// stop takes the line off the terminal. Calling it again does nothing.
func (m *meter) stop() {
	m.stopOnce.Do(func() {
		close(m.done)
		<-m.ended
		m.mu.Lock()
		defer m.mu.Unlock()
		m.clear()
	})
}

func (m *meter) download(module string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.downloads++
	m.module = module
}

func (m *meter) compile(pkg string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun[pkg] = true
	m.current = pkg
}

// setStale sets how many packages there are in all: those begun so far, and those that were found to be still stale.
func (m *meter) setStale(packages []string, root string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.root = root
	m.total = len(m.begun)
	for _, p := range packages {
		if !m.begun[p] {
			m.total++
		}
	}
}

// print passes text on, unchanged.
func (m *meter) print(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
	m.said.WriteString(text)
	io.WriteString(m.w, text)
}

func (m *meter) clear() {
	if m.lineOnTerm {
		io.WriteString(m.w, "\r\x1b[K")
		m.lineOnTerm = false
	}
}

func (m *meter) draw() {
	m.mu.Lock()
	defer m.mu.Unlock()
	elapsed := time.Since(m.start)
	if elapsed < m.patience {
		return
	}
	line := m.line(elapsed)
	if m.terminal {
		fmt.Fprintf(m.w, "\r%s\x1b[K", line)
		m.lineOnTerm = true
		return
	}
	fmt.Fprintln(m.w, line)
}

// line is the state of the build after elapsed, in one line.
func (m *meter) line(elapsed time.Duration) string {
	var state, what string
	switch begun := len(m.begun); {
	case begun == 0 && m.downloads > 0:
		state, what = fmt.Sprintf("downloading module %d", m.downloads), m.module
	case begun == 0:
		state = "looking for what has changed"
	case m.total == 0:
		state, what = fmt.Sprintf("compiling package %d", begun), m.current
	default:
		total := max(m.total, begun)
		percent := min(99, 100*begun/total)
		state, what = fmt.Sprintf("%3d%%  %d of %d", percent, begun, total), m.current
		if m.current == m.root {
			what = "linking"
		}
		if m.terminal {
			full := barWidth * begun / total
			state = strings.Repeat("#", full) + strings.Repeat("-", barWidth-full) + " " + state
		}
	}
	line := fmt.Sprintf("%s: %s  %s", m.name, state, RoundTime(elapsed))
	if what == "" {
		return line
	}
	// The package's own name is at the end of its path, so that is what stays when there is little room.
	if room := lineWidth - len(line) - len("  "); m.terminal && len(what) > room {
		if room < 4 {
			return line[:min(len(line), lineWidth)]
		}
		what = "..." + what[len(what)-room+3:]
	}
	return line + "  " + what
}

// RoundTime is a time as people like to read it.
func RoundTime(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
