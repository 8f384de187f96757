package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// report is what a run found, ready to be shown.
type report struct {
	Machine string   `json:"machine"`
	Quick   bool     `json:"quick"`
	Took    string   `json:"took"`
	Rows    []result `json:"rows"`
}

// result is a row with what follows from its samples. Ratio is nil where the peer's median is zero.
type result struct {
	Name    string       `json:"name"`
	Unit    unit         `json:"unit"`
	Peer    string       `json:"peer"`
	Note    string       `json:"note,omitempty"`
	Rounds  int          `json:"rounds"`
	Ours    summary      `json:"operon"`
	Theirs  summary      `json:"controllerRuntime"`
	Ratio   *float64     `json:"ratio"`
	Target  *target      `json:"target,omitempty"`
	Met     *bool        `json:"met,omitempty"`
	Samples [2][]float64 `json:"samples"`
}

func newReport(rows []row, quick bool, took time.Duration) report {
	r := report{Machine: machine(), Quick: quick, Took: took.Round(time.Second).String()}
	for _, row := range rows {
		res := result{
			Name: row.Name, Unit: row.Unit, Peer: row.PeerName, Note: row.Note, Rounds: len(row.Ours),
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
		r.Rows = append(r.Rows, res)
	}
	return r
}

// verdict counts the rows that meet their target.
func (r report) verdict() string {
	met, targets := 0, 0
	for _, row := range r.Rows {
		if row.Met == nil {
			continue
		}
		targets++
		if *row.Met {
			met++
		}
	}
	return fmt.Sprintf("%d of %d rows with a target meet it (%d rows in all)", met, targets, len(r.Rows))
}

func (r report) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
