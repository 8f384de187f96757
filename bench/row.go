package main

// unit is what the numbers of a row count.
type unit string

const (
	nanoseconds unit = "ns"
	allocations unit = "allocs"
	bytesOf     unit = "B"
	reads       unit = "reads"
	watches     unit = "watches"
	reconciles  unit = "reconciles"
	apiCalls    unit = "calls"
	perSecond   unit = "/s" // the only one of which more is better
)

func (u unit) moreIsBetter() bool { return u == perSecond }

// row is one measure of both libraries.
type row struct {
	Group string // the name of the group, which measure sets
	Name  string
	Size  int // how many objects there are, for rows that are measured at several sizes; they share the Name
	Unit  unit
	Note  string // what a reader must know to judge the row; may be empty

	Ours, Peer []float64 // one for each round
	Planned    int       // rounds; there are fewer when the time of the group has run out
	PeerName   string    // what of the peer's is measured

	Target *target // nil: none is set
}

// target is what a row should reach: a ratio to the peer, or a value of Operon's own.
type target struct {
	Ratio bool    `json:"ratio"`
	Least bool    `json:"least"` // the bound is the smallest that will do, not the greatest
	Bound float64 `json:"bound"`
}

func atMostRatio(bound float64) target  { return target{Ratio: true, Bound: bound} }
func atLeastRatio(bound float64) target { return target{Ratio: true, Least: true, Bound: bound} }
func atMost(bound float64) target       { return target{Bound: bound} }

// met compares medians.
func (t target) met(ours, peer float64) bool {
	bound := t.Bound
	if t.Ratio {
		bound *= peer
	}
	if t.Least {
		return ours >= bound
	}
	return ours <= bound
}

// wants returns the row with a target.
func (r row) wants(t target) row {
	r.Target = &t
	return r
}
