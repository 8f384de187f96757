package cli

// This file holds how a run comes by the verdicts on its definitions: from an earlier run, from a check, or from a judge.

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/cache"
)

// review is one with its verdict, once there is one.
type review struct {
	generate.Review
	fact     *cache.Fact
	known    bool
	refusals []generate.Refusal
}

// review is the Review of the generators' input.
func (n *generation) review(r generate.Review) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reviews = append(n.reviews, &review{Review: r})
}

// recall looks up the verdicts of earlier runs, and tells whether one is missing.
func (n *generation) recall() (missing bool) {
	if n.failed != nil {
		return false
	}
	program, err := programKey()
	if err != nil {
		return len(n.reviews) > 0
	}
	for _, r := range n.reviews {
		if r.fact, err = cache.OpenFact(os.Getenv(cacheVariable), append(program, "verdict", string(r.Object))...); err == nil {
			data, ok := r.fact.Recall()
			r.known = ok && json.Unmarshal(data, &r.refusals) == nil
		}
		missing = missing || !r.known
	}
	return missing
}

func (n *generation) unjudged() bool {
	return slices.ContainsFunc(n.reviews, func(r *review) bool { return !r.known })
}

// settle has a check find the reviews without a verdict that have nothing wrong.
func (n *generation) settle(ctx context.Context, check generate.RulesCheck) {
	var asked []*review
	var definitions [][]byte
	for _, r := range n.reviews {
		if !r.known && r.OnlyRules {
			asked, definitions = append(asked, r), append(definitions, r.Object)
		}
	}
	accepted, err := check(ctx, definitions)
	if err != nil {
		return // the judge will say so
	}
	for i, r := range asked {
		if accepted[i] {
			r.pass(nil)
		}
	}
}

// pass keeps a verdict.
func (r *review) pass(refusals []generate.Refusal) {
	r.refusals, r.known = refusals, true
	if data, err := json.Marshal(refusals); err == nil && r.fact != nil {
		// A verdict that cannot be kept is one that the next run asks for.
		_ = r.fact.Keep(data)
	}
}

// ask asks a judge for the verdicts that are missing, several at a time, and keeps them.
func (n *generation) ask(ctx context.Context, judge generate.Judge) error {
	failed := make([]error, len(n.reviews))
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, r := range n.reviews {
		if r.known {
			continue
		}
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			var refusals []generate.Refusal
			if refusals, failed[i] = judge(ctx, r.Object); failed[i] == nil {
				r.pass(refusals)
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}
