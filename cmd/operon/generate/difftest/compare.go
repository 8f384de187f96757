package difftest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Comparison is the result of running two programs on one case.
type Comparison struct {
	// Want and Got are the outcomes of the first and the second program.
	Want, Got Outcome
	// Files is how many files of the first program the second had to match.
	Files int
	// Differences is empty when the programs agree.
	Differences []string
}

// Compare runs two programs with the same arguments, each on the original state of the tree, and compares the outcomes. Where the
// first fails, the second must fail too and write nothing; what they print then is their own affair.
func Compare(ctx context.Context, tree *Tree, want, got Program, args []string, refused bool) (Comparison, error) {
	var c Comparison
	for _, run := range []struct {
		program Program
		outcome *Outcome
	}{{want, &c.Want}, {got, &c.Got}} {
		outcome, err := run.program.Run(ctx, tree.Dir, args...)
		if err != nil {
			return c, err
		}
		if outcome.Files, err = tree.Changes(); err != nil {
			return c, err
		}
		if err := tree.Restore(); err != nil {
			return c, err
		}
		*run.outcome = outcome
	}
	if refused || c.Want.ExitCode != 0 {
		if refused && c.Want.ExitCode != 0 {
			c.Differences = append(c.Differences, fmt.Sprintf("%s refuses this too:\n%s", want.Name, c.Want.Stderr))
		}
		if c.Got.ExitCode == 0 {
			c.Differences = append(c.Differences, fmt.Sprintf("%s accepts this; %s says:\n%s", got.Name, want.Name, c.Want.Stderr))
			return c, nil
		}
		for path := range c.Got.Files {
			c.Differences = append(c.Differences, fmt.Sprintf("%s failed and wrote %s all the same", got.Name, path))
		}
		return c, nil
	}
	if c.Got.ExitCode != 0 {
		c.Differences = append(c.Differences, fmt.Sprintf("%s exits with %d and says:\n%s", got.Name, c.Got.ExitCode, c.Got.Stderr))
		return c, nil
	}
	if c.Want.Stdout != c.Got.Stdout {
		c.Differences = append(c.Differences, "standard output (-want +got):\n"+diff(c.Want.Stdout, c.Got.Stdout))
	}
	c.Files = len(c.Want.Files)
	paths := maps.Clone(c.Want.Files)
	maps.Copy(paths, c.Got.Files)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		before, ok := c.Want.Files[path]
		if !ok {
			c.Differences = append(c.Differences, fmt.Sprintf("only %s writes %s", got.Name, path))
			continue
		}
		after, ok := c.Got.Files[path]
		if !ok {
			c.Differences = append(c.Differences, fmt.Sprintf("only %s writes %s", want.Name, path))
			continue
		}
		if string(before) != string(after) {
			c.Differences = append(c.Differences, path+" (-want +got):\n"+diff(string(before), string(after)))
		}
	}
	return c, nil
}

// diff shows the lines that differ, at most the first few dozen.
func diff(want, got string) string {
	lines := strings.Split(cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")), "\n")
	if len(lines) > 60 {
		lines = append(lines[:60], fmt.Sprintf("... and %d more lines", len(lines)-60))
	}
	return strings.Join(lines, "\n")
}
