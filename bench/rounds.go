package main

import (
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/operon-dev/operon/bench/report"
)

// plan is how many rounds a measurement is to have, and until when. The first round is had in any case, and all
// contenders take part in every round; one that would end too late, if it took as long as the one before, is not begun.
type plan struct {
	planned int
	until   time.Time // zero: however long it takes
}

// oneOf returns the plan with a share of the time, for measurements that follow each other: left is how many there are to
// go, this one included.
func (p plan) oneOf(left int) plan {
	if !p.until.IsZero() {
		p.until = time.Now().Add(time.Until(p.until) / time.Duration(left))
	}
	return p
}

// rounds yields the numbers of the rounds.
func (p plan) rounds() iter.Seq[int] {
	return func(yield func(int) bool) {
		var took time.Duration
		for round := range p.planned {
			began := time.Now()
			if round > 0 && !p.until.IsZero() && began.Add(took).After(p.until) {
				return
			}
			if !yield(round) {
				return
			}
			took = time.Since(began)
		}
	}
}

// of says on rows what was planned for them.
func (p plan) of(rows ...report.Row) []report.Row {
	for i := range rows {
		rows[i].Planned = p.planned
	}
	return rows
}

// inTurn returns the order of n contenders in a round: every other round a new one, so that none of them always finds what
// the same one has left behind, and in between the last one backwards, so that of two each comes before the other as often.
// The orders are the same in each run.
func inTurn(round, n int) []int {
	order := rand.New(rand.NewPCG(uint64(round/2), uint64(n))).Perm(n)
	if round%2 == 1 {
		slices.Reverse(order)
	}
	return order
}

// cost is what one operation took. The allocations are those of the whole process meanwhile.
type cost struct {
	ns, allocs, bytes float64
}

// contender is one way to do the work of a row.
type contender func() (cost, error)

// interleave runs the contenders in turn and returns the costs of each.
func interleave(p plan, contenders ...contender) ([][]cost, error) {
	costs := make([][]cost, len(contenders))
	var tidied tidied
	for round := range p.rounds() {
		for _, i := range inTurn(round, len(contenders)) {
			tidied.tidy()
			c, err := contenders[i]()
			if err != nil {
				return nil, err
			}
			costs[i] = append(costs[i], c)
		}
	}
	return costs, nil
}

// tidied is the heap after a collection, in bytes.
type tidied uint64

// tidy collects the garbage of the contenders before, so that the next one does not pay for it. A third of what is in use
// may be left, since collecting takes longer the more there is in use.
func (t *tidied) tidy() {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	if *t > 0 && stats.HeapAlloc < uint64(*t)+uint64(*t)/3 {
		return
	}
	runtime.GC()
	runtime.ReadMemStats(&stats)
	*t = tidied(stats.HeapAlloc)
}

// repeat makes a contender that does op n times; its cost is that of one.
func repeat(n int, op func() error) contender {
	return func() (cost, error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		for range n {
			if err := op(); err != nil {
				return cost{}, err
			}
		}
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		return cost{
			ns:     float64(took.Nanoseconds()) / float64(n),
			allocs: float64(after.Mallocs-before.Mallocs) / float64(n),
			bytes:  float64(after.TotalAlloc-before.TotalAlloc) / float64(n),
		}, nil
	}
}

// lasting makes a contender that does op as often as takes about the given time. How often that is it finds out when it
// first runs.
func lasting(d time.Duration, op func() error) contender {
	n := 0
	return func() (cost, error) {
		if n > 0 {
			return repeat(n, op)()
		}
		for n = 1; ; n *= 4 {
			c, err := repeat(n, op)()
			if err != nil {
				return cost{}, err
			}
			switch took := c.ns * float64(n); {
			case took >= float64(d):
				return c, nil
			case took >= float64(d)/8:
				n = int(float64(d) / c.ns)
				return repeat(n, op)()
			}
		}
	}
}

func times(costs []cost) []float64  { return samples(costs, func(c cost) float64 { return c.ns }) }
func allocs(costs []cost) []float64 { return samples(costs, func(c cost) float64 { return c.allocs }) }
func bytesIn(costs []cost) []float64 {
	return samples(costs, func(c cost) float64 { return c.bytes })
}

func samples(costs []cost, of func(cost) float64) []float64 {
	all := make([]float64, len(costs))
	for i, c := range costs {
		all[i] = of(c)
	}
	return all
}

// contest is contenders by name.
type contest struct {
	names      []string
	contenders []contender
}

func (c *contest) add(name string, contender contender) {
	c.names = append(c.names, name)
	c.contenders = append(c.contenders, contender)
}

// run interleaves the contenders.
func (c *contest) run(p plan) (map[string][]cost, error) {
	costs, err := interleave(p, c.contenders...)
	if err != nil {
		return nil, err
	}
	byName := map[string][]cost{}
	for i, name := range c.names {
		byName[name] = costs[i]
	}
	return byName, nil
}
