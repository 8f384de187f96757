package celrules_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/client/fake/celrules"
	"github.com/operon-dev/operon/pkg/client/fake/internal/sidebyside"
)

var (
	differentialTime = flag.Duration("differential.time", 8*time.Second, "how long the fake is compared with a real control plane")
	differentialSeed = flag.Uint64("differential.seed", 1, "the first seed of that comparison; each further round takes the next")
	differentialKeep = flag.Bool("differential.keep", false, "go on after a difference, and report them all")
)

// TestRulesAreEvaluatedAsTheServerDoes does the same random operations with the fake and with a real control plane, and compares
// errors with their causes, answers and states after each. A failure names the seed and the shortest sequence that shows it.
func TestRulesAreEvaluatedAsTheServerDoes(t *testing.T) {
	config := realServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), *differentialTime+5*time.Minute)
	defer cancel()
	real, err := client.NewWithWatch(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	found, err := sidebyside.Comparison{
		Real: real,
		NewFake: func() client.WithWatch {
			return fake.NewClientBuilder().WithCRDs(plantCRD(t)).WithCELRules(celrules.Compile).
				WithReturnManagedFields().WithGlobalResourceVersionCounter().Build()
		},
		Draw:       func(random *rand.Rand) sidebyside.Operation { return drawer{random, &refused}.draw() },
		Operations: 60,
		Seed:       *differentialSeed,
		Watched:    []*unstructured.Unstructured{plant("")},
		Keep:       *differentialKeep,
	}.Run(ctx, *differentialTime)
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range found.Differences {
		t.Error(difference)
	}
	if refused == 0 {
		t.Error("nothing was refused: the operations do not show what rules do")
	}
	t.Logf("compared %d operations in %d rounds: %d differences", found.Operations, found.Rounds, len(found.Differences))
}

// drawer draws operations on plants.
type drawer struct {
	*rand.Rand
	// refused counts the operations that were.
	refused *int
}

func pick[T any](d drawer, choices ...T) T { return choices[d.IntN(len(choices))] }

func (d drawer) spec() map[string]any {
	spec := map[string]any{"min": pick(d, int64(1), int64(1), int64(4)), "max": pick(d, int64(3), int64(5), int64(5), int64(12))}
	maybe := func(percent int, field string, value any) {
		if d.IntN(100) < percent {
			spec[field] = value
		}
	}
	maybe(50, "soil", pick(d, "clay", "clay", "clay", "sand", "sand", "loam", "rock"))
	maybe(40, "age", pick(d, int64(1), int64(2), int64(3), int64(100), int64(200)))
	maybe(25, "depth", pick[any](d, int64(1), int64(0), "5%", "5"))
	maybe(40, "names", pick(d, []any{"a"}, []any{"ab", "cd"}, []any{"X", "ok", "Y"}, []any{"abcdefg"}, []any{"abcdefghij"}, []any{"a", "b", "c", "d", "e"}))
	leaf := func(name string) map[string]any {
		return map[string]any{"name": name, "green": d.IntN(2) == 0, "size": int64(d.IntN(3))}
	}
	maybe(50, "leaves", pick(d, []any{leaf("a")}, []any{leaf("b"), leaf("a")}, []any{map[string]any{"name": "c"}}, []any{leaf("a"), leaf("a")}))
	maybe(25, "marks", pick(d, map[string]any{"x": int64(2)}, map[string]any{"x": int64(0), "y": int64(12)}, map[string]any{"x": int64(7)}))
	maybe(25, "spread", map[string]any{"north": pick(d, "2", "1", "100m", "far")})
	maybe(5, "max", "many")
	return spec
}

func (d drawer) status() map[string]any {
	status := map[string]any{}
	if d.IntN(2) == 0 {
		status["phase"] = pick(d, "alive", "dead", "dead", "resurrected")
	}
	if d.IntN(2) == 0 {
		status["height"] = pick[any](d, int64(1), int64(29), int64(45), int64(200), "tall")
	}
	return status
}

func (d drawer) draw() sidebyside.Operation {
	name := pick(d, "a", "a", "b", "weed")
	draws := []func(string) sidebyside.Operation{
		d.create, d.create, d.replace, d.replace, d.mergePatch, d.mergePatch, d.mergePatch, d.apply, d.apply,
		d.replaceStatus, d.patchStatus, d.applyStatus, d.delete,
	}
	return pick(d, draws...)(name)
}

const owner = client.FieldOwner("plain")

// on returns an operation on one plant.
func (d drawer) on(name, text string, op func(context.Context, *sidebyside.World, *unstructured.Unstructured) error) sidebyside.Operation {
	return sidebyside.On(plantKind, name, text, func(ctx context.Context, w *sidebyside.World) (any, error) {
		u := w.Object(plantKind, name)
		err := op(ctx, w, u)
		if err != nil {
			*d.refused++
		}
		return sidebyside.Normal(u.Object), err
	})
}

func (d drawer) create(name string) sidebyside.Operation {
	spec := d.spec()
	return d.on(name, "create "+sidebyside.Encode(spec), func(ctx context.Context, w *sidebyside.World, u *unstructured.Unstructured) error {
		u.Object["spec"] = copied(spec)
		return w.Create(ctx, u, owner)
	})
}

// replace writes another spec, or only another label, over what there is.
func (d drawer) replace(name string) sidebyside.Operation {
	spec, label, dry := d.spec(), pick(d, "", "", "x", "y"), d.IntN(10) == 0
	text := fmt.Sprintf("replace dry=%v label=%s %s", dry, label, sidebyside.Encode(spec))
	return d.on(name, text, func(ctx context.Context, w *sidebyside.World, u *unstructured.Unstructured) error {
		if err := w.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		if label != "" {
			u.SetLabels(map[string]string{"team": label})
		} else {
			u.Object["spec"] = copied(spec)
		}
		if dry {
			return w.Update(ctx, u, client.DryRunAll, owner)
		}
		return w.Update(ctx, u, owner)
	})
}

func (d drawer) mergePatch(name string) sidebyside.Operation {
	spec := d.spec()
	for field := range spec {
		if d.IntN(3) > 0 {
			delete(spec, field)
		}
	}
	if d.IntN(4) == 0 {
		spec["soil"] = nil
	}
	doc := sidebyside.Encode(map[string]any{"spec": spec})
	return d.on(name, "merge patch "+doc, func(ctx context.Context, w *sidebyside.World, u *unstructured.Unstructured) error {
		return w.Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(doc)), owner)
	})
}

func (d drawer) apply(name string) sidebyside.Operation {
	spec, by := d.spec(), pick(d, "red", "blue")
	return d.on(name, "apply by="+by+" "+sidebyside.Encode(spec), func(ctx context.Context, w *sidebyside.World, u *unstructured.Unstructured) error {
		u.Object["spec"] = copied(spec)
		return w.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(by), client.ForceOwnership)
	})
}

func (d drawer) replaceStatus(name string) sidebyside.Operation {
	status := d.status()
	return d.on(name, "replace status "+sidebyside.Encode(status), func(ctx context.Context, w *sidebyside.World, u *unstructured.Unstructured) error {
		if err := w.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return err
		}
		u.Object["status"] = copied(status)
		return w.Status().Update(ctx, u, owner)
	})
}

func (d drawer) patchStatus(name string) sidebyside.Operation {
	doc := sidebyside.Encode(map[string]any{"status": d.status()})
	return d.on(name, "merge patch of status "+doc, func(ctx context.Context, w *sidebyside.World, u *unstructured.Unstructured) error {
		return w.Status().Patch(ctx, u, client.RawPatch(types.MergePatchType, []byte(doc)), owner)
	})
}

func (d drawer) applyStatus(name string) sidebyside.Operation {
	status := d.status()
	return d.on(name, "apply status "+sidebyside.Encode(status), func(ctx context.Context, w *sidebyside.World, u *unstructured.Unstructured) error {
		u.Object["status"] = copied(status)
		return w.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), &client.SubResourceApplyOptions{
			ApplyOptions: *(&client.ApplyOptions{}).ApplyOptions([]client.ApplyOption{client.FieldOwner("status"), client.ForceOwnership}),
		})
	})
}

func (d drawer) delete(name string) sidebyside.Operation {
	return d.on(name, "delete", func(ctx context.Context, w *sidebyside.World, u *unstructured.Unstructured) error {
		return w.Delete(ctx, u)
	})
}

func copied(content map[string]any) map[string]any {
	return (&unstructured.Unstructured{Object: content}).DeepCopy().Object
}
