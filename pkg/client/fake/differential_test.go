package fake_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
)

var (
	differentialTime = flag.Duration("differential.time", 8*time.Second, "how long the fake is compared with a real control plane")
	differentialSeed = flag.Uint64("differential.seed", 1, "the first seed of that comparison; each further round takes the next")
	differentialKeep = flag.Bool("differential.keep", false, "go on after a difference, and report them all")
)

// operationsPerSeed is how many operations are done in one namespace.
const operationsPerSeed = 60

// worlds makes the two worlds of one round, in a namespace of their own.
func worlds(ctx context.Context, t *testing.T, real client.WithWatch, namespace string) [2]*world {
	t.Helper()
	if err := real.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	imitation := fake.NewClientBuilder().WithCRDs(gadgetCRD(), gizmoCRD()).WithReturnManagedFields().WithGlobalResourceVersionCounter().Build()
	return [2]*world{
		{WithWatch: imitation, namespace: namespace, versions: map[string][]string{}},
		{WithWatch: real, namespace: namespace, versions: map[string][]string{}},
	}
}

// difference is a step at which the worlds parted.
type difference struct {
	step       int
	fake, real outcome
}

// compare does the operations in both worlds until they part, and returns where; in the end it compares what watches have told.
// It counts the operations.
func compare(ctx context.Context, t *testing.T, both [2]*world, operations []operation, counted *int) *difference {
	t.Helper()
	kinds := []schema.GroupVersionKind{configMapKind, gadgetKind}
	var watches [2][]watching
	for j, w := range both {
		for _, kind := range kinds {
			opened, err := w.watchTeams(ctx, kind)
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Stop()
			watches[j] = append(watches[j], opened)
		}
	}
	for i, op := range operations {
		var got [2]outcome
		for j, w := range both {
			out, err := op.run(ctx, w)
			if err != nil {
				t.Fatalf("%s: %v", op.text, err)
			}
			got[j] = out
		}
		*counted++
		if got[0].String() != got[1].String() && !intended(op, got[0], got[1]) {
			return &difference{step: i, fake: got[0], real: got[1]}
		}
	}
	for i := range kinds {
		var told [2]outcome
		for j, w := range both {
			events, err := w.told(ctx, watches[j][i])
			if err != nil {
				t.Fatal(err)
			}
			told[j].State = events
		}
		if told[0].String() != told[1].String() {
			return &difference{step: len(operations) - 1, fake: told[0], real: told[1]}
		}
	}
	return nil
}

// TestFakeDoesWhatTheServerDoes does the same random operations with the fake and with a real control plane, and compares
// errors, answers and states after each, and what watches told of them. A failure names the seed and the shortest sequence that shows it.
func TestFakeDoesWhatTheServerDoes(t *testing.T) {
	config := realServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), *differentialTime+2*time.Minute)
	defer cancel()
	real, err := client.NewWithWatch(config, client.Options{FieldOwner: "plain"})
	if err != nil {
		t.Fatal(err)
	}
	compared, differences, rounds := 0, 0, uint64(0)
	for start := time.Now(); time.Since(start) < *differentialTime; rounds++ {
		seed := *differentialSeed + rounds
		d := drawer{rand.New(rand.NewPCG(seed, 0))}
		operations := make([]operation, operationsPerSeed)
		for i := range operations {
			operations[i] = d.draw()
		}
		namespace := fmt.Sprintf("seed-%d-%d", seed, time.Now().UnixNano())
		found := compare(ctx, t, worlds(ctx, t, real, namespace), operations, &compared)
		if found == nil {
			continue
		}
		differences++
		shortest, last := shrink(ctx, t, real, namespace, operations[:found.step+1], found)
		var steps []string
		for _, op := range shortest {
			steps = append(steps, op.text)
		}
		t.Errorf("seed %d, step %d, shrunk from %d operations to:\n  %s\nerror of the fake: %v\nerror of the server: %v\n(-fake +real)\n%s",
			seed, found.step, found.step+1, strings.Join(steps, "\n  "), last.fake.err, last.real.err, excerpt(last))
		if !*differentialKeep {
			break
		}
	}
	t.Logf("compared %d operations in %d rounds: %d differences besides the %d intended ones", compared, rounds, differences, len(intendedDifferences))
}

// excerpt returns what is different in a difference.
func excerpt(d *difference) string {
	var lines []string
	for _, line := range strings.Split(cmp.Diff(d.fake, d.real, cmpopts.IgnoreUnexported(outcome{})), "\n") {
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// shrink leaves out the operations that are not needed for the last one to differ.
func shrink(ctx context.Context, t *testing.T, real client.WithWatch, namespace string, operations []operation, found *difference) ([]operation, *difference) {
	t.Helper()
	ignored := 0
	for i := len(operations) - 2; i >= 0; i-- {
		shorter := slices.Delete(slices.Clone(operations), i, i+1)
		again := compare(ctx, t, worlds(ctx, t, real, fmt.Sprintf("%s-%d", namespace, i)), shorter, &ignored)
		if again != nil {
			operations, found = shorter[:again.step+1], again
			i = min(i, len(operations)-1)
		}
	}
	return operations, found
}

// intendedDifference is one that is kept, for a reason. Those that the operations would meet tell them apart; the others are
// not drawn.
type intendedDifference struct {
	what, reason string
	is           func(op operation, fake, real outcome) bool
}

var intendedDifferences = []intendedDifference{
	{
		what:   "creating an object that has a resourceVersion is a bad request",
		reason: "a server answers with an internal error, or with what else is wrong, or takes it as a dry run; controller-runtime's fake always answered so",
		is: func(op operation, fake, _ outcome) bool {
			return strings.HasPrefix(op.text, "create ") && strings.Contains(op.text, `"resourceVersion"`) && fake.Reason == "BadRequest"
		},
	},
	{
		what:   "scaling to the number that there is changes nothing",
		reason: "a server stores the object anew, and splits the entry of the number's owner",
	},
	{
		what:   "an update that leaves a deletionTimestamp out is refused",
		reason: "controller-runtime's fake refuses it; a server puts it back",
	},
	{
		what:   "a uid, creationTimestamp or generation that a new object brings along is kept",
		reason: "tests name the uid of owners; a server sets its own",
	},
	{
		what:   "a patch that sets resourceVersion to null applies to custom resources too",
		reason: "controller-runtime's fake lets it; a server demands a resourceVersion of kinds that cannot be replaced blindly",
	},
	{
		what:   "writes to the status of Kubernetes' own kinds leave all metadata alone",
		reason: "controller-runtime's fake does; servers let some kinds' labels and annotations be written with the status",
	},
	{
		what:   "defaults and validation of Kubernetes' own kinds, and admission",
		reason: "they belong to k8s.io/kubernetes, which the library does not link",
	},
	{
		what:   "CEL rules of a CustomResourceDefinition",
		reason: "they need k8s.io/apiserver, which the library does not link",
	},
	{
		what:   "objects live in namespaces that do not exist, and are deleted without a grace period or garbage collection",
		reason: "nothing runs beside the fake that would create or collect them",
	},
	{
		what:   "a status of the wrong type in a new object is dropped, and the other fields have their owner",
		reason: "a server drops it too, but then tracks no owners at all",
	},
}

func intended(op operation, fake, real outcome) bool {
	return slices.ContainsFunc(intendedDifferences, func(d intendedDifference) bool { return d.is != nil && d.is(op, fake, real) })
}
