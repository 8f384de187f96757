package threeway

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Labels name the sides of a conflict, behind its markers.
type Labels struct {
	Ours, Theirs string
}

// A hunk is lines of the base that one side has others for.
type hunk struct {
	start, end int // lines of the base
	lines      []string
}

// Merge carries the changes from base to theirs into ours. It returns the result, and how many conflicts are in it.
func Merge(base, ours, theirs string, labels Labels) (merged string, conflicts int) {
	lines := split(base)
	a, b := hunks(base, ours), hunks(base, theirs)
	var out strings.Builder
	at := 0
	for len(a) > 0 || len(b) > 0 {
		// A chunk is hunks of both sides that touch each other, with the lines of the base between them.
		start, end := next(a, b)
		var fromA, fromB []hunk
		for {
			nA, nB := touching(a, start, end), touching(b, start, end)
			if nA == 0 && nB == 0 {
				break
			}
			fromA, a = append(fromA, a[:nA]...), a[nA:]
			fromB, b = append(fromB, b[:nB]...), b[nB:]
			for _, h := range slices.Concat(fromA, fromB) {
				end = max(end, h.end)
			}
		}
		write(&out, lines[at:start])
		at = end
		mine, yours := patched(lines, start, end, fromA), patched(lines, start, end, fromB)
		switch {
		case len(fromB) == 0 || slices.Equal(mine, yours):
			write(&out, mine)
		case len(fromA) == 0:
			write(&out, yours)
		default:
			conflict(&out, mine, yours, labels)
			conflicts++
		}
	}
	write(&out, lines[at:])
	return out.String(), conflicts
}

// next is where the first hunk of both sides is.
func next(a, b []hunk) (start, end int) {
	if len(a) == 0 || len(b) > 0 && (b[0].start < a[0].start || b[0].start == a[0].start && b[0].end < a[0].end) {
		a = b
	}
	return a[0].start, a[0].end
}

// touching is how many hunks at the beginning of a list are within or beside some lines.
func touching(list []hunk, start, end int) int {
	n := 0
	for n < len(list) && list[n].start <= end && list[n].end >= start {
		end = max(end, list[n].end)
		n++
	}
	return n
}

// hunks are the changes from one text to another.
func hunks(base, changed string) []hunk {
	var list []hunk
	for _, edit := range udiff.Lines(base, changed) {
		h := hunk{
			start: strings.Count(base[:edit.Start], "\n"),
			end:   len(split(base[:edit.End])),
			lines: split(edit.New),
		}
		if last := len(list) - 1; last >= 0 && list[last].end == h.start {
			list[last].end, list[last].lines = h.end, append(list[last].lines, h.lines...)
			continue
		}
		list = append(list, h)
	}
	return list
}

// patched is what one side has for some lines of the base.
func patched(lines []string, start, end int, list []hunk) []string {
	var out []string
	for _, h := range list {
		out = append(out, lines[start:h.start]...)
		out = append(out, h.lines...)
		start = h.end
	}
	return append(out, lines[start:end]...)
}

// conflict writes both sides. What they have in common at their ends is no part of it.
func conflict(out *strings.Builder, mine, yours []string, labels Labels) {
	head := 0
	for head < min(len(mine), len(yours)) && mine[head] == yours[head] {
		head++
	}
	tail := 0
	for tail < min(len(mine), len(yours))-head && mine[len(mine)-1-tail] == yours[len(yours)-1-tail] {
		tail++
	}
	common := mine[len(mine)-tail:]
	write(out, mine[:head])
	out.WriteString("<<<<<<< " + labels.Ours + "\n")
	writeEnded(out, mine[head:len(mine)-tail])
	out.WriteString("=======\n")
	writeEnded(out, yours[head:len(yours)-tail])
	out.WriteString(">>>>>>> " + labels.Theirs + "\n")
	write(out, common)
}

func write(out *strings.Builder, lines []string) {
	for _, line := range lines {
		out.WriteString(line)
	}
}

// writeEnded writes lines of which the last may be the end of a text without a newline.
func writeEnded(out *strings.Builder, lines []string) {
	write(out, lines)
	if len(lines) > 0 && !strings.HasSuffix(lines[len(lines)-1], "\n") {
		out.WriteByte('\n')
	}
}

func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
