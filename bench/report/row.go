package report

// A Unit is what the numbers of a row count.
type Unit string

// The units.
const (
	Nanoseconds Unit = "ns"
	Allocations Unit = "allocs"
	Bytes       Unit = "B"
	Reads       Unit = "reads"
	Watches     Unit = "watches"
	Reconciles  Unit = "reconciles"
	APICalls    Unit = "calls"
	PerSecond   Unit = "/s" // the only one of which more is better
)

func (u Unit) moreIsBetter() bool { return u == PerSecond }

// A Row is one measure of both libraries.
type Row struct {
	Group string // of rows that are measured together
	Name  string
	Size  int // how many objects there are, for rows that are measured at several sizes; they share the Name
	Unit  Unit
	Note  string // what a reader must know to judge the row; may be empty

	Ours, Peer []float64 // one for each round
	Planned    int       // rounds; there are fewer when the time of the group has run out
	PeerName   string    // what of the peer's is measured

	Target *Target // nil: none is set
}

// A Target is what a row should reach: a ratio to the peer, or a value of Operon's own. Medians are what is compared.
type Target struct {
	Ratio bool    `json:"ratio"`
	Least bool    `json:"least"` // the bound is the smallest that will do, not the greatest
	Bound float64 `json:"bound"`
}

// AtMostRatio is for a measure of which less is better: Operon's is to be no more than so much of the peer's.
func AtMostRatio(bound float64) Target { return Target{Ratio: true, Bound: bound} }

// AtLeastRatio is for a measure of which more is better: Operon's is to be so many times the peer's.
func AtLeastRatio(bound float64) Target { return Target{Ratio: true, Least: true, Bound: bound} }

// AtMost is for a measure of which less is better: Operon's is to be no more than that, whatever the peer's is.
func AtMost(bound float64) Target { return Target{Bound: bound} }

func (t Target) met(ours, peer float64) bool {
	bound := t.Bound
	if t.Ratio {
		bound *= peer
	}
	if t.Least {
		return ours >= bound
	}
	return ours <= bound
}

// Wants returns the row with a target.
func (r Row) Wants(t Target) Row {
	r.Target = &t
	return r
}
