package review

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
)

// The escape sequences of a coloured diff.
const (
	plain = "\x1b[0m"
	bold  = "\x1b[1m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
)

// Diff writes a plan as unified diffs, one for each file that changes. Of go.sum it says only how much.
func Diff(w io.Writer, set *fileset.Set, coloured bool) error {
	for _, c := range set.Changes() {
		before, after := set.Before(c.Path), ""
		old, now := "a/"+c.Path, "b/"+c.Path
		switch c.Op {
		case fileset.Created:
			old = "/dev/null"
		case fileset.Removed:
			now = "/dev/null"
		}
		if c.Op != fileset.Removed {
			var err error
			if after, err = set.Read(c.Path); err != nil {
				return err
			}
		}
		text := udiff.Unified(old, now, before, after)
		if path.Base(c.Path) == "go.sum" {
			text = summary(c.Path, text)
		}
		if coloured {
			text = colour(text)
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// summary counts the lines of a diff.
func summary(path, diff string) string {
	added, removed := 0, 0
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return fmt.Sprintf("--- a/%s\n+++ b/%s\n(%d lines added, %d removed: not shown)\n", path, path, added, removed)
}

// colour colours the lines of a diff by what they say.
func colour(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		code := ""
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			code = bold
		case strings.HasPrefix(line, "@@"):
			code = cyan
		case strings.HasPrefix(line, "-"):
			code = red
		case strings.HasPrefix(line, "+"):
			code = green
		}
		text, end := strings.CutSuffix(line, "\n")
		if code != "" {
			text = code + text + plain
		}
		b.WriteString(text)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
