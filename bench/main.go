package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"time"

	"github.com/go-logr/logr"
	operon "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/bench/report"
	peer "sigs.k8s.io/controller-runtime"
)

// A group is rows that are measured together, from one fixture.
type group struct {
	name string // what -only selects

	// full and quick are how long it may take, with and without -quick; zero leaves it out. When that is over, no further
	// round begins, and the rows say so; two cores that have nothing else to do can get through. A group that takes several times as
	// long is stopped with an error. All of full are to stay below ten minutes, all of quick below two.
	full, quick time.Duration

	measure func(context.Context, *environment) ([]report.Row, error)
}

// groups are measured in this order. To add rows, write a function in a file of
// its own and list it here: above the line if it needs no control plane, which
// would take processor time from it once it runs.
var groups = []group{
	{"reads 1k", 10 * time.Second, 4 * time.Second, readsOf(1_000)},
	{"reads 10k", 28 * time.Second, 9 * time.Second, readsOf(10_000)},
	{"reads 100k", 100 * time.Second, 0, readsOf(100_000)},
	{"other forms", 9 * time.Second, 0, formRows},
	{"heap", 12 * time.Second, 4 * time.Second, heapRows},
	{"representations", 9 * time.Second, 5 * time.Second, representationRows},
	{"queue", 3 * time.Second, 2 * time.Second, queueRows},
	{"no-op reconciles", 6 * time.Second, 3 * time.Second, noopRows},
	{"webhooks", 9 * time.Second, 3 * time.Second, webhookRows},
	{"fake client", 8 * time.Second, 3 * time.Second, fakeRows},
	{"crowded queue", 40 * time.Second, 7 * time.Second, crowdRows},
	{"event latency", 24 * time.Second, 8 * time.Second, latencyRows},
	{"reconcile all", 15 * time.Second, 8 * time.Second, reconcileAllRows},
	{"generators", 36 * time.Second, 12 * time.Second, generatorRows},
	// ---- The control plane starts with the first group that asks environment.config for it.
	{"own writes", 9 * time.Second, 7 * time.Second, ownWriteRows},
	{"first reconcile", 4 * time.Second, 3 * time.Second, firstReconcileRows},
	{"create latency", 16 * time.Second, 5 * time.Second, createLatencyRows},
	{"Memcacheds", 50 * time.Second, 16 * time.Second, memcachedRows},
	{"failover", 34 * time.Second, 0, failoverRows},
	// ---- These start control planes of their own.
	{"Memcacheds and Pods", 36 * time.Second, 0, memcachedPodRows},
	{"recovery", 12 * time.Second, 0, recoveryRows},
	{"envtest", 30 * time.Second, 12 * time.Second, envtestRows},
	{"journey", 25 * time.Second, 0, journeyRows},
}

// patience is how many times its budget a group may take before it is stopped.
const patience = 10

func main() {
	quick := flag.Bool("quick", false, "take fewer rounds, and leave out the slow groups")
	write := flag.Bool("write", false, "write RESULTS.md, results.json and growth.svg too")
	only := flag.String("only", "", "measure only the groups whose name matches this `regexp`")
	list := flag.Bool("list", false, "print the groups and what time they may take, and measure nothing")
	child := flag.Bool("child", false, "be the child process that the arguments name; for the bench itself")
	flag.Parse()
	operon.SetLogger(logr.Discard())
	peer.SetLogger(logr.Discard())

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := func() error { return run(ctx, *quick, *write, *only) }
	switch {
	case *child:
		run = func() error { return runChild(ctx, flag.Args()) }
	case *list:
		run = func() error { return listGroups(os.Stdout) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the groups one after the other. One that fails does not keep the
// others from being shown and written; the report names it, and the run fails.
func run(ctx context.Context, quick, write bool, only string) (err error) {
	if write && (quick || only != "") {
		return errors.New("-write needs all rows: leave out -quick and -only")
	}
	chosen, err := choose(quick, only)
	if err != nil {
		return err
	}
	env := &environment{quick: quick}
	defer func() { err = errors.Join(err, env.close()) }()

	began := time.Now()
	var rows []report.Row
	var failed []error
	var spent []report.Spending
	for i, g := range chosen {
		fmt.Fprintf(os.Stderr, "[%d/%d] %s: ", i+1, len(chosen), g.name)
		start, worked := time.Now(), processorTime()
		got, err := g.run(ctx, env)
		s := report.Spending{Group: g.name, Budget: g.budget(quick), Took: time.Since(start), Processor: processorTime() - worked}
		spent = append(spent, s)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", g.name, err))
			fmt.Fprintf(os.Stderr, "%v, after %.1f s\n", err, s.Took.Seconds())
			if ctx.Err() != nil {
				break
			}
			continue
		}
		rows = append(rows, got...)
		fmt.Fprintf(os.Stderr, "%d rows in %.1f s of %.0f, %.1f s of processor time\n", len(got), s.Took.Seconds(), s.Budget.Seconds(), s.Processor.Seconds())
	}
	found := report.New(rows, quick, time.Since(began))
	found.Failed, found.Spent = failed, spent
	if err := found.WriteText(os.Stdout); err != nil || !write || ctx.Err() != nil {
		return errors.Join(append(failed, err)...)
	}
	return errors.Join(append(failed,
		writeFile("growth.svg", found.WritePlot),
		writeFile("RESULTS.md", found.WriteMarkdown),
		writeFile("results.json", found.WriteJSON),
	)...)
}

// choose returns the groups of a run.
func choose(quick bool, only string) ([]group, error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	var chosen []group
	for _, g := range groups {
		if g.budget(quick) > 0 && pattern.MatchString(g.name) {
			chosen = append(chosen, g)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-only %s: no group has such a name; -list prints them", only)
	}
	return chosen, nil
}

func (g group) budget(quick bool) time.Duration {
	if quick {
		return g.quick
	}
	return g.full
}

func (g group) run(ctx context.Context, env *environment) ([]report.Row, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience*g.budget(env.quick)+30*time.Second, errors.New("it took far longer than its budget"))
	defer cancel()
	env.until = time.Now().Add(g.budget(env.quick))
	rows, err := g.measure(ctx, env)
	for i := range rows {
		rows[i].Group = g.name
		if rows[i].Planned < len(rows[i].Ours) {
			return nil, fmt.Errorf("%s: %d rounds, of which %d were planned", rows[i].Name, len(rows[i].Ours), rows[i].Planned)
		}
	}
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return rows, err
}

func listGroups(w io.Writer) error {
	var full, quick time.Duration
	for _, g := range groups {
		full, quick = full+g.full, quick+g.quick
		fmt.Fprintf(w, "%-24s %4.0f s, quick %3.0f s\n", g.name, g.full.Seconds(), g.quick.Seconds())
	}
	_, err := fmt.Fprintf(w, "%-24s %4.0f s, quick %3.0f s\n", "all", full.Seconds(), quick.Seconds())
	return err
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
