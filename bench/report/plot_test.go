package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"
)

// The plot shows a line for each library and measure, and is well-formed XML.
func TestPlotOfGrowthIsAnSVG(t *testing.T) {
	var rows []Row
	for _, size := range []int{1000, 10_000, 100_000} {
		n := float64(size)
		for _, m := range plottedTimes {
			rows = append(rows,
				Row{Name: m.name, PeerName: m.peer, Size: size, Unit: Nanoseconds, Ours: []float64{n}, Peer: []float64{30 * n}},
				Row{Name: m.name, PeerName: m.peer, Size: size, Unit: Allocations, Ours: []float64{0}, Peer: []float64{81}},
			)
		}
		for _, m := range plottedMemory {
			rows = append(rows, Row{Name: m.name, PeerName: m.peer, Size: size, Unit: Bytes, Ours: []float64{5000 * n}, Peer: []float64{18_000 * n}})
		}
	}
	var svg bytes.Buffer
	if err := New(rows, false, time.Minute).WritePlot(&svg); err != nil {
		t.Fatal(err)
	}
	for _, m := range append(append([]plotted{}, plottedTimes...), plottedMemory...) {
		for _, library := range []string{"Operon: ", "controller-runtime: "} {
			if !strings.Contains(svg.String(), library+m.label) {
				t.Errorf("the plot does not show %q", library+m.label)
			}
		}
	}
	decoder := xml.NewDecoder(&svg)
	for {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
