package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/cache"
	"github.com/operon-dev/operon/cmd/operon/generate/crd"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// generation is one run of the generators: render, then recall and ask for what reviews come to, then finish. Where asking takes long, it forgets the
// source before, and renders again should there be something to explain. verdicts.go has what is between.
type generation struct {
	plan     *plan
	settings settings
	// entry is where the run is remembered; nil for nowhere.
	entry          *cache.Entry
	stdout, stderr io.Writer
	// report takes what there is to say; nil where that is text.
	report *Report

	in               *generate.Input
	mistakes, doubts diag.List
	// idle are markers without effect: those that no generator knows, and those that stand where none looks.
	idle         diag.List
	out          output
	dependencies []string
	failed       error

	mu      sync.Mutex
	reviews []*review
}

// render loads the source and lets the generators read it.
func (n *generation) render(ctx context.Context) error {
	source, err := load.New(load.Config{BuildTags: n.settings.buildTags})
	if err != nil {
		return err
	}
	roots, err := source.Roots(n.plan.paths...)
	if err != nil {
		return err
	}
	collector := marker.NewCollector(n.plan.registry(), &n.mistakes)
	collector.Doubt(allMarkers(), &n.idle)
	n.in = &generate.Input{Roots: roots, Source: source, Markers: collector, Mistakes: &n.mistakes, Doubts: &n.doubts, Review: n.review}
	steps := n.plan.steps
	rendered := make([][]generate.Artifact, len(steps))
	failed := make([]error, len(steps))
	var wg sync.WaitGroup
	for i, step := range steps {
		if c, ok := step.generator.(crd.Generator); ok {
			c.ToolVersion = n.settings.annotate
			step.generator = c
		}
		wg.Go(func() {
			if rendered[i], failed[i] = step.generator.Generate(ctx, n.in); failed[i] != nil {
				failed[i] = fmt.Errorf("%s: %w", step.name, failed[i])
			}
		})
	}
	wg.Wait()
	n.addSourceMistakes(roots)
	n.failed = errors.Join(failed...)
	for i, step := range steps {
		n.out.add(step.rule, rendered[i])
	}
	if n.entry != nil {
		n.dependencies = n.plan.dependencies(source, &n.out)
	}
	return nil
}

// addSourceMistakes adds what is wrong with the Go source, but for names that a generator has missed at the same line: it knows the way out.
func (n *generation) addSourceMistakes(roots []*load.Package) {
	missed := map[string]bool{}
	line := func(m diag.Mistake) string { return fmt.Sprintf("%s:%d", m.Pos.Filename, m.Pos.Line) }
	for _, m := range n.mistakes.Sorted() {
		missed[line(m)] = true
	}
	for _, pkg := range roots {
		n.mistakes.Add(slices.DeleteFunc(pkg.Mistakes(), func(m diag.Mistake) bool {
			return missed[line(m)] && (strings.HasPrefix(m.What, "undefined: ") || strings.HasPrefix(m.What, "invalid recursive type"))
		})...)
	}
}

// forget lets go of the source, which takes more memory than all else.
func (n *generation) forget() {
	n.in = nil
	for _, r := range n.reviews {
		r.Explain = nil
	}
}

// renderAgain brings back what is forgotten, for the definitions that the same source makes.
func (n *generation) renderAgain(ctx context.Context) (*generation, error) {
	again := &generation{plan: n.plan, settings: n.settings, entry: n.entry, stdout: n.stdout, stderr: n.stderr, report: n.report}
	if err := again.render(ctx); err != nil {
		return nil, err
	}
	for _, r := range again.reviews {
		if i := slices.IndexFunc(n.reviews, func(known *review) bool { return bytes.Equal(known.Object, r.Object) }); i >= 0 {
			r.known, r.refusals = n.reviews[i].known, n.reviews[i].refusals
		}
	}
	return again, nil
}

// finish says what is wrong, or writes what the generators rendered.
func (n *generation) finish(ctx context.Context) error {
	if n.in == nil && slices.ContainsFunc(n.reviews, func(r *review) bool { return len(r.refusals) > 0 }) {
		again, err := n.renderAgain(ctx)
		if err != nil {
			return err
		}
		n = again
	}
	var reviews []generate.Review
	var verdicts [][]generate.Refusal
	judged := true
	for _, r := range n.reviews {
		judged = judged && r.known
		if len(r.refusals) > 0 {
			reviews, verdicts = append(reviews, r.Review), append(verdicts, r.refusals)
		}
	}
	if len(reviews) > 0 {
		n.in.Report(reviews, verdicts)
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	var allowed []diag.Mistake
	if n.settings.allow {
		allowed = append(n.mistakes.TakeRefused(), n.doubts.TakeRefused()...)
	}
	warnings, err := n.warn(here, allowed)
	if err != nil {
		return err
	}
	if n.failed != nil {
		switch {
		case n.mistakes.Empty():
		case n.report != nil:
			n.report.Mistakes = n.mistakes.Entries(here)
		default:
			n.mistakes.Print(n.stderr, here)
		}
		return n.failed
	}
	if !n.mistakes.Empty() {
		return &mistakesError{list: &n.mistakes, dir: here, idle: n.settings.strictMarkers && !n.idle.Empty()}
	}
	changed, err := n.out.write(n.stdout)
	if n.report != nil {
		n.report.Changed = relative(changed)
	}
	if err != nil {
		return err
	}
	if n.entry != nil && judged && n.out.stdout.Len() == 0 {
		// A run that cannot be remembered is one that the next run repeats.
		_ = n.entry.Save(warnings, n.dependencies)
	}
	return nil
}

// warn prints what is doubtful and returns it, or takes it for mistakes. What is allowed is printed in any case.
func (n *generation) warn(here string, allowed []diag.Mistake) (string, error) {
	var refused diag.List
	refused.Add(allowed...)
	if n.settings.strict || n.settings.strictMarkers {
		n.mistakes.Add(n.idle.Sorted()...)
	} else {
		n.doubts.Add(n.idle.Sorted()...)
	}
	if n.settings.strict {
		n.mistakes.Add(n.doubts.Sorted()...)
		n.doubts = diag.List{}
	}
	if n.report != nil {
		n.report.Warnings = append(n.doubts.Entries(here), refused.Entries(here)...)
		saved, err := json.Marshal(n.report.Warnings)
		return string(saved), err
	}
	var warnings strings.Builder
	for _, group := range []struct {
		list *diag.List
		head string
	}{{&n.doubts, "this is probably not what was meant"}, {&refused, "the API server would refuse this as it is"}} {
		if !group.list.Empty() {
			fmt.Fprintf(&warnings, "controller-gen: warning: %s:\n", group.head)
			group.list.Print(&warnings, here)
		}
	}
	_, err := io.WriteString(n.stderr, warnings.String())
	return warnings.String(), err
}
