package main

// unit is what the numbers of a row count.
type unit string

const (
	nanoseconds unit = "ns"
	allocations unit = "allocs"
	bytesOf     unit = "B"
	reads       unit = "reads"
)

// row is one measure of both libraries.
type row struct {
	Name string
	Unit unit
	Note string // what a reader must know to judge the row; may be empty

	Ours, Peer []float64 // one for each round
	PeerName   string

	Target *target // nil: none is set
}

// target is what a row should reach: a ratio to the peer, or a value of Operon's own.
type target struct {
	Ratio bool    `json:"ratio"`
	Bound float64 `json:"bound"`
}

func atMostRatio(bound float64) target { return target{Ratio: true, Bound: bound} }
func atMost(bound float64) target      { return target{Bound: bound} }

// met compares medians.
func (t target) met(ours, peer float64) bool {
	if !t.Ratio {
		return ours <= t.Bound
	}
	return ours <= t.Bound*peer
}

// wants returns the row with a target.
func (r row) wants(t target) row {
	r.Target = &t
	return r
}
