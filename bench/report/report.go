package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// A Report is what a run found, ready to be shown.
type Report struct {
	Failed []error // the groups that could not be measured
	Spent  []Spending

	machine string
	quick   bool
	took    string
	rows    []result
	growth  []growth
}

// Spending is what a group has taken. The processor time is that of this process and of those it has waited for, so not that
// of a control plane which runs on.
type Spending struct {
	Group     string        `json:"group"`
	Budget    time.Duration `json:"budget"`
	Took      time.Duration `json:"took"`
	Processor time.Duration `json:"processor"`
}

// result is a row with what follows from its samples. Ratio is nil where the peer's median is zero.
type result struct {
	Group   string       `json:"group"`
	Name    string       `json:"name"`
	Size    int          `json:"size,omitempty"`
	Unit    Unit         `json:"unit"`
	Peer    string       `json:"peer"`
	Note    string       `json:"note,omitempty"`
	Rounds  int          `json:"rounds"`
	Planned int          `json:"planned"`
	Ours    summary      `json:"operon"`
	Theirs  summary      `json:"controllerRuntime"`
	Ratio   *float64     `json:"ratio"`
	Target  *Target      `json:"target,omitempty"`
	Met     *bool        `json:"met,omitempty"`
	Samples [2][]float64 `json:"samples"`
}

// New returns the report of a run on this machine.
func New(rows []Row, quick bool, took time.Duration) Report {
	r := Report{machine: machine(), quick: quick, took: took.Round(time.Second).String()}
	for _, row := range rows {
		res := result{
			Group: row.Group, Name: row.Name, Size: row.Size, Unit: row.Unit, Peer: row.PeerName, Note: row.Note, Rounds: len(row.Ours), Planned: row.Planned,
			Ours: summarize(row.Ours), Theirs: summarize(row.Peer), Target: row.Target,
			Samples: [2][]float64{row.Ours, row.Peer},
		}
		if q, ok := ratio(res.Ours.Median, res.Theirs.Median); ok {
			res.Ratio = &q
		}
		if row.Target != nil {
			met := row.Target.met(res.Ours.Median, res.Theirs.Median)
			res.Met = &met
		}
		r.rows = append(r.rows, res)
	}
	r.growth = growthOf(r.rows)
	return r
}

// verdict counts the rows that meet their target.
func (r Report) verdict() string {
	met, targets := 0, 0
	for _, row := range r.rows {
		if row.Met == nil {
			continue
		}
		targets++
		if *row.Met {
			met++
		}
	}
	verdict := fmt.Sprintf("%d of %d rows with a target meet it (%d rows in all)", met, targets, len(r.rows))
	if len(r.Failed) > 0 {
		verdict += fmt.Sprintf("; %d groups could not be measured", len(r.Failed))
	}
	return verdict
}

// WriteJSON writes the report as one JSON object, with a line for each row.
func (r Report) WriteJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\n\"machine\": %q,\n\"quick\": %v,\n\"took\": %q,\n", r.machine, r.quick, r.took)
	failed := make([]string, len(r.Failed))
	for i, err := range r.Failed {
		failed[i] = err.Error()
	}
	if err := writeLines(out, "failed", failed); err != nil {
		return err
	}
	fmt.Fprintln(out, ",")
	if err := writeLines(out, "rows", r.rows); err != nil {
		return err
	}
	fmt.Fprintln(out, ",")
	if err := writeLines(out, "growth", r.growth); err != nil {
		return err
	}
	fmt.Fprintln(out, ",")
	if err := writeLines(out, "spent", r.Spent); err != nil {
		return err
	}
	fmt.Fprintln(out, "\n}")
	return out.Flush()
}

// writeLines writes a field of a JSON object that holds a list, each element on a line.
func writeLines[T any](out *bufio.Writer, field string, elements []T) error {
	fmt.Fprintf(out, "%q: [", field)
	for i, element := range elements {
		line, err := json.Marshal(element)
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, "\n%s", line)
	}
	_, err := out.WriteString("\n]")
	return err
}
