package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

var columns = []string{"row", "against controller-runtime's", "Operon", "peer", "ratio", "Operon min–max", "peer min–max", "target", "met"}

func (r result) cells() []string {
	quotient, bound, met := "-", "-", "-"
	if r.Ratio != nil {
		quotient = fmt.Sprintf("%.3f", *r.Ratio)
	}
	if r.Target != nil {
		met = "no"
		if *r.Met {
			met = "yes"
		}
		bound = "≤ " + format(r.Target.Bound, r.Unit)
		if r.Target.Ratio {
			bound = fmt.Sprintf("ratio ≤ %v", r.Target.Bound)
		}
	}
	return []string{
		r.Name, r.Peer, format(r.Ours.Median, r.Unit), format(r.Theirs.Median, r.Unit), quotient,
		spread(r.Ours, r.Unit, r.Rounds), spread(r.Theirs, r.Unit, r.Rounds), bound, met,
	}
}

func spread(s summary, u unit, rounds int) string {
	if rounds < 2 {
		return "-"
	}
	return format(s.Min, u) + "–" + format(s.Max, u)
}

// format shows a value with three figures or so, in a unit that suits its size.
func format(value float64, u unit) string {
	switch {
	case u != nanoseconds && value >= 100:
		return fmt.Sprintf("%.0f %s", value, u)
	case u != nanoseconds:
		return fmt.Sprintf("%v %s", math.Round(value*100)/100, u)
	case value >= 1e6:
		return fmt.Sprintf("%.1f ms", value/1e6)
	case value >= 1e3:
		return fmt.Sprintf("%.1f µs", value/1e3)
	}
	return fmt.Sprintf("%.0f ns", value)
}

// writeText writes the table for a terminal.
func (r report) writeText(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	for _, row := range r.Rows {
		fmt.Fprintln(table, strings.Join(row.cells(), "\t"))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s; took %s\n%s\n", r.Machine, r.Took, r.verdict())
	return err
}

// writeMarkdown writes the table as a page, with the notes below it.
func (r report) writeMarkdown(w io.Writer) error {
	var page strings.Builder
	fmt.Fprintf(&page, "# Operon and controller-runtime v0.25.2, side by side\n\n%s\n\n", r.about())
	fmt.Fprintf(&page, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	for _, row := range r.Rows {
		fmt.Fprintf(&page, "| %s |\n", strings.Join(row.cells(), " | "))
	}
	page.WriteString("\n")
	for _, row := range r.Rows {
		if row.Note != "" {
			fmt.Fprintf(&page, "- %s (%s): %s.\n", row.Name, row.Peer, row.Note)
		}
	}
	fmt.Fprintf(&page, "\nMachine: %s; took %s.\n\n%s\n", r.Machine, r.Took, r.verdict())
	_, err := io.WriteString(w, page.String())
	return err
}

func (r report) about() string {
	about := "Medians of rounds in which the contenders took turns, in one process. Cache rows: 10,000 Pods with two containers, " +
		"annotations and managedFields, 100 to an app, served by the bench itself as protobuf to both. Rows that write or start a manager: " +
		"one control plane of `operon cluster` without nodes. Ratio: Operon's median by the peer's."
	if r.Quick {
		about += " Quick run: fewer rounds."
	}
	return about
}
