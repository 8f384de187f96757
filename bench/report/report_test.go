package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// What is shown and written says the same: the rows, their targets, what grows, and what could not be measured.
func TestReportShowsRowsTargetsGrowthAndFailures(t *testing.T) {
	r := New([]Row{
		Row{Group: "reads", Name: "Get", Size: 1000, Unit: Nanoseconds, Ours: []float64{100, 110, 90}, Peer: []float64{1000, 2000, 3000}, Planned: 5, PeerName: "Get", Note: "a note"}.Wants(AtMostRatio(0.1)),
		Row{Group: "reads", Name: "Get", Size: 10_000, Unit: Nanoseconds, Ours: []float64{100}, Peer: []float64{20_000}, PeerName: "Get"},
		Row{Group: "requests", Name: "Requests", Unit: PerSecond, Ours: []float64{50}, Peer: []float64{100}, PeerName: "server"}.Wants(AtLeastRatio(1)),
	}, false, 90*time.Second)
	r.Failed = []error{errors.New("heap: no memory")}
	r.Spent = []Spending{{Group: "reads", Budget: 10 * time.Second, Took: 11 * time.Second, Processor: 15 * time.Second}}

	var text, page, raw bytes.Buffer
	if err := errors.Join(r.WriteText(&text), r.WriteMarkdown(&page), r.WriteJSON(&raw)); err != nil {
		t.Fatal(err)
	}
	const verdict = "1 of 2 rows with a target meet it (3 rows in all); 1 groups could not be measured"
	if lines := strings.Split(strings.TrimSpace(text.String()), "\n"); lines[len(lines)-1] != verdict {
		t.Errorf("the last line is %q, want %q", lines[len(lines)-1], verdict)
	}
	for _, want := range []string{
		"| Get | 1k | Get | 100 ns | 95 ns–105 ns | 2.00 µs | 1.50 µs–2.50 µs | 0.050 | 3 of 5 | ratio ≤ 0.1 | yes |",
		"| Requests |  | server | 50 /s | - | 100 /s | - | 0.500 (more is better) | 1 | ratio ≥ 1 | no |",
		"| Get | Get | 1k, 10k | 100 ns, 100 ns | 2.00 µs, 20.0 µs | 0.00 | 1.00 |",
		"- Get (Get): a note.",
		"| reads | 11.0 s | 10.0 s | 15.0 s |",
		"Not measured: heap: no memory.",
		"growth.svg",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, &page)
		}
	}
	var back struct {
		Rows   []result
		Growth []growth
		Failed []string
	}
	if err := json.Unmarshal(raw.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Rows) != 3 || len(back.Growth) != 1 || len(back.Failed) != 1 {
		t.Errorf("%d rows, %d that grow and %d failures in the JSON, want 3, 1 and 1", len(back.Rows), len(back.Growth), len(back.Failed))
	}
}
