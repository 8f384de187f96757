package fake_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/client/fake/internal/sidebyside"
)

var (
	differentialTime = flag.Duration("differential.time", 8*time.Second, "how long the fake is compared with a real control plane")
	differentialSeed = flag.Uint64("differential.seed", 1, "the first seed of that comparison; each further round takes the next")
	differentialKeep = flag.Bool("differential.keep", false, "go on after a difference, and report them all")
)

// operationsPerSeed is how many operations are done in one namespace.
const operationsPerSeed = 60

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
	gadget := unstructuredOf(gadgetKind, "")
	gadget.Object["spec"] = map[string]any{"color": "red"}
	comparison := sidebyside.Comparison{
		Real: real,
		NewFake: func() client.WithWatch {
			return fake.NewClientBuilder().WithCRDs(gadgetCRD(), gizmoCRD()).WithReturnManagedFields().WithGlobalResourceVersionCounter().Build()
		},
		Draw:       func(random *rand.Rand) sidebyside.Operation { return drawer{random}.draw() },
		Operations: operationsPerSeed,
		Seed:       *differentialSeed,
		Watched:    []*unstructured.Unstructured{unstructuredOf(configMapKind, ""), gadget},
		Intended:   intended,
		Keep:       *differentialKeep,
	}
	found, err := comparison.Run(ctx, *differentialTime)
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range found.Differences {
		t.Error(difference)
	}
	t.Logf("compared %d operations in %d rounds: %d differences besides the %d intended ones",
		found.Operations, found.Rounds, len(found.Differences), len(intendedDifferences))
}

// intendedDifference is one that is kept, for a reason. Those that the operations would meet tell them apart; the others are
// not drawn.
type intendedDifference struct {
	what, reason string
	is           func(op sidebyside.Operation, fake, real sidebyside.Outcome) bool
}

var intendedDifferences = []intendedDifference{
	{
		what:   "creating an object that has a resourceVersion is a bad request",
		reason: "a server answers with an internal error, or with what else is wrong, or takes it as a dry run; controller-runtime's fake always answered so",
		is: func(op sidebyside.Operation, fake, _ sidebyside.Outcome) bool {
			return strings.HasPrefix(op.Text, "create ") && strings.Contains(op.Text, `"resourceVersion"`) && fake.Reason == "BadRequest"
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
		what:   "a status that a new object of Kubernetes' own kinds brings along is kept",
		reason: "tests create objects in the state that they need, and controller-runtime's fake lets them; a server drops it",
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
		reason: "they need k8s.io/apiserver, which the library does not link; module celrules, which does, compares them",
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

func intended(op sidebyside.Operation, fake, real sidebyside.Outcome) bool {
	return slices.ContainsFunc(intendedDifferences, func(d intendedDifference) bool { return d.is != nil && d.is(op, fake, real) })
}
