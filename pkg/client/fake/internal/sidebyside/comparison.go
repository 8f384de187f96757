package sidebyside

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
)

// An Operation is something that is done in both worlds. It is drawn once and means the same in each.
type Operation struct {
	// Text describes it for people.
	Text string
	run  func(context.Context, *World) (Outcome, error)
}

// On returns an operation on one object. op returns the answer, and the error that it got instead.
func On(kind schema.GroupVersionKind, name, text string, op func(context.Context, *World) (any, error)) Operation {
	return Operation{
		Text: fmt.Sprintf("%s %s/%s", text, kind.Kind, name),
		run: func(ctx context.Context, w *World) (Outcome, error) {
			return w.do(ctx, kind, name, func() (any, error) { return op(ctx, w) })
		},
	}
}

// A Comparison says what is done in both worlds.
type Comparison struct {
	Real    client.WithWatch
	NewFake func() client.WithWatch
	// Draw draws an operation.
	Draw func(*rand.Rand) Operation
	// Operations is how many are done in one round.
	Operations int
	// Seed is that of the first round; each further round takes the next.
	Seed uint64
	// Watched are valid objects of the kinds that are watched. What their watches tell of objects with a label "team" is compared.
	Watched []*unstructured.Unstructured
	// Intended says whether a difference is meant to be. None is, if it is nil.
	Intended func(op Operation, fake, real Outcome) bool
	// Keep goes on after a difference.
	Keep bool
}

// A Result is what a comparison has found.
type Result struct {
	Rounds, Operations int
	Differences        []Difference
}

// A Difference is where the worlds parted.
type Difference struct {
	Seed uint64
	// Step is the operation at which they did, of those drawn; Shortest are those that are needed to show it.
	Step       int
	Shortest   []Operation
	Fake, Real Outcome
}

// String tells where the worlds parted, how to get there, and in what they differ.
func (d Difference) String() string {
	var steps, lines []string
	for _, op := range d.Shortest {
		steps = append(steps, op.Text)
	}
	for _, line := range strings.Split(cmp.Diff(d.Fake, d.Real, cmpopts.IgnoreUnexported(Outcome{})), "\n") {
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
			lines = append(lines, line)
		}
	}
	return fmt.Sprintf("seed %d, step %d, shrunk from %d operations to:\n  %s\nerror of the fake: %v\nerror of the server: %v\n(-fake +real)\n%s",
		d.Seed, d.Step, d.Step+1, strings.Join(steps, "\n  "), d.Fake.err, d.Real.err, strings.Join(lines, "\n"))
}

// Run compares for as long as atLeast, and to the end of the last round then. The error is one of the comparison itself.
func (c Comparison) Run(ctx context.Context, atLeast time.Duration) (Result, error) {
	var result Result
	for start := time.Now(); time.Since(start) < atLeast; result.Rounds++ {
		seed := c.Seed + uint64(result.Rounds)
		random := rand.New(rand.NewPCG(seed, 0))
		operations := make([]Operation, c.Operations)
		for i := range operations {
			operations[i] = c.Draw(random)
		}
		namespace := fmt.Sprintf("seed-%d-%d", seed, time.Now().UnixNano())
		found, done, err := c.round(ctx, namespace, operations)
		result.Operations += done
		if err != nil {
			return result, err
		}
		if found == nil {
			continue
		}
		found.Seed = seed
		shortest, err := c.shrink(ctx, namespace, operations[:found.Step+1], *found)
		if err != nil {
			return result, err
		}
		result.Differences = append(result.Differences, shortest)
		if !c.Keep {
			result.Rounds++
			break
		}
	}
	return result, nil
}

// worlds makes the two worlds of one round, in a namespace of their own.
func (c Comparison) worlds(ctx context.Context, namespace string) ([2]*World, error) {
	err := c.Real.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	return [2]*World{
		{WithWatch: c.NewFake(), Namespace: namespace, versions: map[string][]string{}},
		{WithWatch: c.Real, Namespace: namespace, versions: map[string][]string{}},
	}, err
}

// round does the operations in both worlds until they part, and returns where; in the end it compares what watches have told. It
// counts the operations.
func (c Comparison) round(ctx context.Context, namespace string, operations []Operation) (*Difference, int, error) {
	both, err := c.worlds(ctx, namespace)
	if err != nil {
		return nil, 0, err
	}
	var watches [2][]watching
	for i, w := range both {
		for _, valid := range c.Watched {
			opened, err := w.watchTeams(ctx, valid)
			if err != nil {
				return nil, 0, err
			}
			defer opened.Stop()
			watches[i] = append(watches[i], opened)
		}
	}
	for step, op := range operations {
		var got [2]Outcome
		for i, w := range both {
			if got[i], err = op.run(ctx, w); err != nil {
				return nil, step, fmt.Errorf("%s: %w", op.Text, err)
			}
		}
		if got[0].String() != got[1].String() && (c.Intended == nil || !c.Intended(op, got[0], got[1])) {
			return &Difference{Step: step, Fake: got[0], Real: got[1]}, step + 1, nil
		}
	}
	for k := range c.Watched {
		var told [2]Outcome
		for i, w := range both {
			events, err := w.told(ctx, watches[i][k])
			if err != nil {
				return nil, len(operations), err
			}
			told[i].State = events
		}
		if told[0].String() != told[1].String() {
			return &Difference{Step: len(operations) - 1, Fake: told[0], Real: told[1]}, len(operations), nil
		}
	}
	return nil, len(operations), nil
}

// shrink leaves out the operations that are not needed for the last one to differ.
func (c Comparison) shrink(ctx context.Context, namespace string, operations []Operation, found Difference) (Difference, error) {
	found.Shortest = operations
	for i := len(operations) - 2; i >= 0; i-- {
		shorter := slices.Delete(slices.Clone(found.Shortest), i, i+1)
		again, _, err := c.round(ctx, fmt.Sprintf("%s-%d", namespace, i), shorter)
		if err != nil {
			return found, err
		}
		if again != nil {
			found.Shortest, found.Fake, found.Real = shorter[:again.Step+1], again.Fake, again.Real
			i = min(i, len(found.Shortest)-1)
		}
	}
	return found, nil
}
