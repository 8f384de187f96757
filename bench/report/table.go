package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

var columns = []string{"row", "objects", "against controller-runtime's", "Operon", "quartiles", "peer", "quartiles", "ratio", "rounds", "target", "met"}

func (r result) cells() []string {
	size, quotient, bound, met := "", "-", "-", "-"
	if r.Size > 0 {
		size = thousands(r.Size)
	}
	if r.Ratio != nil {
		quotient = fmt.Sprintf("%.3f", *r.Ratio)
		if r.Unit.moreIsBetter() {
			quotient += " (more is better)"
		}
	}
	if r.Target != nil {
		bound = r.Target.show(r.Unit)
		met = "no"
		if *r.Met {
			met = "yes"
		}
	}
	theirs := "-" // the peer has nothing of the kind
	if len(r.Samples[1]) > 0 {
		theirs = format(r.Theirs.Median, r.Unit)
	}
	return []string{
		r.Name, size, r.Peer, format(r.Ours.Median, r.Unit), spread(r.Ours, r.Unit, r.Rounds),
		theirs, spread(r.Theirs, r.Unit, len(r.Samples[1])), quotient, r.rounds(), bound, met,
	}
}

// rounds is how many there were, and how many were planned if that were more.
func (r result) rounds() string {
	if r.Rounds < r.Planned {
		return fmt.Sprintf("%d of %d", r.Rounds, r.Planned)
	}
	return fmt.Sprint(r.Rounds)
}

func (t Target) show(u Unit) string {
	relation, bound := "≤ ", format(t.Bound, u)
	if t.Least {
		relation = "≥ "
	}
	if t.Ratio {
		relation, bound = "ratio "+relation, fmt.Sprint(t.Bound)
	}
	return relation + bound
}

func spread(s summary, u Unit, rounds int) string {
	if rounds < 2 {
		return "-"
	}
	return format(s.Q1, u) + "–" + format(s.Q3, u)
}

// format shows a value with three figures or so, in a unit that suits its size.
func format(value float64, u Unit) string {
	switch {
	case u == Nanoseconds:
		return scaled(value, "ns", "µs", "ms", "s")
	case u == Bytes:
		return scaled(value, "B", "kB", "MB", "GB")
	case value >= 100:
		return fmt.Sprintf("%.0f %s", value, u)
	}
	return fmt.Sprintf("%v %s", math.Round(value*100)/100, u)
}

// scaled shows a value in the greatest of the units, each 1,000 of the one before, that leaves something before the point.
func scaled(value float64, units ...string) string {
	i := 0
	for i < len(units)-1 && math.Abs(value) >= 1000 {
		value, i = value/1000, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%v %s", math.Round(value*10)/10, units[i])
	}
	return fmt.Sprintf("%.*f %s", max(0, 2-int(math.Log10(math.Abs(value)))), value, units[i])
}

// thousands shows 10000 as 10k.
func thousands(n int) string {
	if n%1000 == 0 {
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

var growthColumns = []string{"measure", "against controller-runtime's", "objects", "Operon", "peer", "Operon's exponent", "peer's exponent"}

func (g growth) cells() []string {
	var sizes, ours, theirs []string
	for i, size := range g.Sizes {
		sizes = append(sizes, thousands(int(size)))
		ours = append(ours, format(g.Ours[i], g.Unit))
		theirs = append(theirs, format(g.Theirs[i], g.Unit))
	}
	power := func(k *float64) string {
		if k == nil {
			return "-"
		}
		return fmt.Sprintf("%.2f", *k)
	}
	return []string{
		g.Name, g.Peer, strings.Join(sizes, ", "), strings.Join(ours, ", "), strings.Join(theirs, ", "),
		power(g.OurExponent), power(g.TheirExponent),
	}
}

// sections are the rows by group, in their order.
func (r Report) sections() [][]result {
	var all [][]result
	for i, row := range r.rows {
		if i == 0 || row.Group != r.rows[i-1].Group {
			all = append(all, nil)
		}
		last := len(all) - 1
		all[last] = append(all[last], row)
	}
	return all
}

// shownGrowth leaves out what hardly differs from run to run, or does not grow: results.json has it all.
func (r Report) shownGrowth() []growth {
	var shown []growth
	for _, g := range r.growth {
		if g.OurExponent != nil && g.TheirExponent != nil {
			shown = append(shown, g)
		}
	}
	return shown
}

// WriteText writes the tables for a terminal; the last line is the verdict.
func (r Report) WriteText(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	for _, rows := range r.sections() {
		blank := strings.Repeat("\t", len(columns)-1) // without its cells, the columns would be aligned anew
		fmt.Fprintf(table, "%s\n%s%s\n", blank, rows[0].Group, blank)
		for _, row := range rows {
			fmt.Fprintln(table, strings.Join(row.cells(), "\t"))
		}
	}
	if shown := r.shownGrowth(); len(shown) > 0 {
		fmt.Fprintf(table, "\n%s\n", strings.Join(growthColumns, "\t"))
		for _, g := range shown {
			fmt.Fprintln(table, strings.Join(g.cells(), "\t"))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s; took %s\n%s\n", r.machine, r.took, r.verdict())
	return err
}

// WriteMarkdown writes the tables as a page, with the notes below each.
func (r Report) WriteMarkdown(w io.Writer) error {
	var page strings.Builder
	fmt.Fprintf(&page, "# Operon and controller-runtime v0.25.2, side by side\n\n%s\n\nMachine: %s; the run took %s. All samples: [results.json](results.json).\n\n**%s.**\n",
		about, r.machine, r.took, r.verdict())
	for _, rows := range r.sections() {
		fmt.Fprintf(&page, "\n## %s\n\n", rows[0].Group)
		markdownHead(&page, columns)
		for _, row := range rows {
			markdownRow(&page, row.cells())
		}
		if notes := notesOf(rows); len(notes) > 0 {
			fmt.Fprintf(&page, "\n- %s\n", strings.Join(notes, "\n- "))
		}
	}
	for _, err := range r.Failed {
		fmt.Fprintf(&page, "\nNot measured: %v.\n", err)
	}
	if len(r.Spent) > 0 {
		page.WriteString("\n## Where the time went\n\nThe processor time is that of the measuring process and of those it has waited for.\n\n")
		markdownHead(&page, []string{"rows", "took", "may take", "processor time"})
		for _, s := range r.Spent {
			markdownRow(&page, []string{s.Group, seconds(s.Took), seconds(s.Budget), seconds(s.Processor)})
		}
	}
	page.WriteString("\n## Cost as work grows\n\nThe exponent is that of the power of the number of objects which fits best: 0 does not grow, 1 grows in proportion.\n\n")
	page.WriteString("![time and memory against the number of objects, both libraries](growth.svg)\n\n")
	markdownHead(&page, growthColumns)
	for _, g := range r.shownGrowth() {
		markdownRow(&page, g.cells())
	}
	_, err := io.WriteString(w, page.String())
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func markdownHead(page *strings.Builder, columns []string) {
	fmt.Fprintf(page, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
}

func markdownRow(page *strings.Builder, cells []string) {
	fmt.Fprintf(page, "| %s |\n", strings.Join(cells, " | "))
}

// notesOf says each note once, with the rows that it belongs to.
func notesOf(rows []result) []string {
	var order []string
	of := map[string][]string{}
	for _, row := range rows {
		if row.Note == "" {
			continue
		}
		if of[row.Note] == nil {
			order = append(order, row.Note)
		}
		if named := row.Name + " (" + row.Peer + ")"; !slices.Contains(of[row.Note], named) {
			of[row.Note] = append(of[row.Note], named)
		}
	}
	notes := make([]string, len(order))
	for i, note := range order {
		notes[i] = strings.Join(of[note], "; ") + ": " + note + "."
	}
	return notes
}

const about = "Medians of rounds in which the contenders took turns, in one process; the quartiles beside them are what half of the rounds " +
	"lay between. Ratio: Operon's median by the peer's. Cache rows: Pods with two containers, annotations and managedFields, 100 to an app, " +
	"500 to a namespace, 20 to a node, served by the bench itself as protobuf to both. Rows that write or start a manager: a control plane of `operon cluster`, without controllers and nodes unless the row says so. " +
	"Rounds: fewer than planned where the time of the rows' group had run out."
