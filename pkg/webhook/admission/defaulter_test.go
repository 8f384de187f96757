package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	patching "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operon-dev/operon/pkg/webhook/admission"
)

// create is a request to create an object.
func create(raw string) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "u", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(raw)},
	}}
}

// patched returns what becomes of the object when the response's patch is applied.
func patched(t testing.TB, raw string, r admission.Response) string {
	t.Helper()
	if !r.Allowed {
		t.Fatalf("%s is denied: %+v", raw, r.Result)
	}
	if len(r.Patch) == 0 {
		return raw
	}
	p, err := patching.DecodePatch(r.Patch)
	if err != nil {
		t.Fatal(err)
	}
	after, err := p.Apply([]byte(raw))
	if err != nil {
		t.Fatalf("%s cannot be applied to %s: %v", r.Patch, raw, err)
	}
	return string(after)
}

func sameJSON(t testing.TB, a, b string) string {
	t.Helper()
	var trees [2]any
	for i, s := range []string{a, b} {
		decoder := json.NewDecoder(strings.NewReader(s))
		decoder.UseNumber()
		if err := decoder.Decode(&trees[i]); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return cmp.Diff(trees[0], trees[1])
}

func TestDefaultingKeepsWhatTheTypeDoesNotKnow(t *testing.T) {
	for _, tt := range []struct {
		name, sent, want, pruned string
		change                   func(*thing)
	}{
		{
			name:   "nothing changed, nothing is added",
			sent:   `{"name":"n","unknown":1}`,
			change: func(*thing) {},
			want:   `{"name":"n","unknown":1}`,
			pruned: `{"name":"n","always":""}`,
		},
		{
			name:   "beside what is set and what is removed",
			sent:   `{"unknown":{"x":[1,null]},"total":5}`,
			change: func(g *thing) { g.Replicas, g.Total = 2, 0 },
			want:   `{"unknown":{"x":[1,null]},"replicas":2,"always":""}`,
			pruned: `{"replicas":2,"always":""}`,
		},
		{
			name:   "empty fields that the type omits",
			sent:   `{"total":0,"name":"","parts":[]}`,
			change: func(g *thing) { g.Replicas = 2 },
			want:   `{"total":0,"name":"","parts":[],"replicas":2,"always":""}`,
			pruned: `{"replicas":2,"always":""}`,
		},
		{
			name:   "inside objects",
			sent:   `{"always":"","inner":{"on":true,"unknown":1}}`,
			change: func(g *thing) { g.Inner.On = false },
			want:   `{"always":"","inner":{"unknown":1}}`,
			pruned: `{"always":"","inner":{}}`,
		},
		{
			name:   "but not inside what is removed as a whole",
			sent:   `{"always":"","inner":{"on":true,"unknown":1}}`,
			change: func(g *thing) { g.Inner = nil },
			want:   `{"always":""}`,
			pruned: `{"always":""}`,
		},
		{
			name:   "inside items that are changed",
			sent:   `{"always":"","parts":[{"name":"a","x":1},{"name":"b","x":2}]}`,
			change: func(g *thing) { g.Parts[1].Value = 7 },
			want:   `{"always":"","parts":[{"name":"a","x":1},{"name":"b","value":7,"x":2}]}`,
			pruned: `{"always":"","parts":[{"name":"a"},{"name":"b","value":7}]}`,
		},
		{
			name:   "inside items that others are put before",
			sent:   `{"always":"","parts":[{"name":"a","x":1},{"name":"b","x":2}]}`,
			change: func(g *thing) { g.Parts = append([]part{{Name: "new"}}, g.Parts...) },
			want:   `{"always":"","parts":[{"name":"new"},{"name":"a","x":1},{"name":"b","x":2}]}`,
			pruned: `{"always":"","parts":[{"name":"new"},{"name":"a"},{"name":"b"}]}`,
		},
		{
			name:   "inside items whose neighbours are removed",
			sent:   `{"always":"","parts":[{"name":"a","x":1},{"name":"b","x":2},{"name":"c","x":3}]}`,
			change: func(g *thing) { g.Parts = []part{{Name: "c", Value: 1}, {Name: "a"}} },
			want:   `{"always":"","parts":[{"name":"c","value":1,"x":3},{"name":"a","x":1}]}`,
			pruned: `{"always":"","parts":[{"name":"c","value":1},{"name":"a"}]}`,
		},
		{
			name:   "inside items that are given another name",
			sent:   `{"always":"","parts":[{"name":"a","x":1}]}`,
			change: func(g *thing) { g.Parts[0].Name = "z" },
			want:   `{"always":"","parts":[{"name":"z","x":1}]}`,
			pruned: `{"always":"","parts":[{"name":"z"}]}`,
		},
		{
			name:   "integers that no float can hold",
			sent:   `{"always":"","replicas":9007199254740993,"unknown":{"id":9007199254740995},"parts":[{"id":9007199254740997}]}`,
			change: func(g *thing) { g.Parts[0].Value = 1 },
			want:   `{"always":"","replicas":9007199254740993,"unknown":{"id":9007199254740995},"parts":[{"id":9007199254740997,"value":1}]}`,
			pruned: `{"always":"","replicas":9007199254740993,"parts":[{"value":1}]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change := defaultFunc(func(_ context.Context, g *thing) error { tt.change(g); return nil })
			got := patched(t, tt.sent, admission.WithDefaulter(scheme(), change).Handle(t.Context(), create(tt.sent)))
			if diff := sameJSON(t, tt.want, got); diff != "" {
				t.Errorf("%s becomes %s (-want +got):\n%s", tt.sent, got, diff)
			}
			prune := admission.WithDefaulter(scheme(), change, admission.DefaulterRemoveUnknownOrOmitableFields)
			if diff := sameJSON(t, tt.pruned, patched(t, tt.sent, prune.Handle(t.Context(), create(tt.sent)))); diff != "" {
				t.Errorf("without unknown fields, %s (-want +got):\n%s", tt.sent, diff)
			}
		})
	}
}

func TestABigIntegerThatIsSetArrivesAsItIs(t *testing.T) {
	hook := admission.WithDefaulter(scheme(), defaultFunc(func(_ context.Context, g *thing) error { g.Replicas = 9007199254740993; return nil }))
	const sent = `{"always":""}`
	if diff := sameJSON(t, `{"always":"","replicas":9007199254740993}`, patched(t, sent, hook.Handle(t.Context(), create(sent)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheErrorOfADefaulterDeniesTheRequest(t *testing.T) {
	for _, tt := range []struct {
		err    error
		code   int32
		reason string
	}{
		{errors.New("no"), 403, "Forbidden"},
		{apierrors.NewBadRequest("no"), 400, "BadRequest"},
	} {
		hook := admission.WithDefaulter(scheme(), defaultFunc(func(context.Context, *thing) error { return tt.err }))
		r := hook.Handle(t.Context(), create(`{}`))
		if r.Allowed || r.Result.Code != tt.code || string(r.Result.Reason) != tt.reason || r.Result.Message != "no" || r.UID != "u" {
			t.Errorf("%v becomes %+v", tt.err, r)
		}
	}
}

func TestADefaulterIsNotAskedAboutDeletions(t *testing.T) {
	hook := admission.WithDefaulter(scheme(), defaultFunc(func(context.Context, *thing) error { return errors.New("asked") }))
	req := create("")
	req.Operation = admissionv1.Delete
	if r := hook.Handle(t.Context(), req); !r.Allowed || r.Result.Code != 200 || len(r.Patch) > 0 {
		t.Errorf("answered %+v", r)
	}
}

func TestADefaulterHasTheRequestInItsContext(t *testing.T) {
	hook := admission.WithDefaulter(scheme(), defaultFunc(func(ctx context.Context, _ *thing) error {
		req, err := admission.RequestFromContext(ctx)
		if err != nil || req.UID != "u" {
			t.Errorf("request %+v, error %v", req, err)
		}
		return nil
	}))
	hook.Handle(t.Context(), create(`{}`))
	if _, err := admission.RequestFromContext(t.Context()); err == nil {
		t.Error("there is a request in the context of a test")
	}
}

// anyDefaulter takes objects of any type.
type anyDefaulter struct{ seen func(runtime.Object) }

func (d anyDefaulter) Default(_ context.Context, obj runtime.Object) error {
	d.seen(obj)
	return nil
}

func TestADefaulterForAnyTypeGetsTheTypeThatWasNamed(t *testing.T) {
	var seen runtime.Object
	d := anyDefaulter{func(obj runtime.Object) { seen = obj }}
	admission.WithCustomDefaulter(scheme(), &thing{}, d).Handle(t.Context(), create(`{"name":"n"}`))
	if got, ok := seen.(*thing); !ok || got.Name != "n" {
		t.Errorf("named *thing: %T %v", seen, seen)
	}
	admission.WithCustomDefaulter(scheme(), &unstructured.Unstructured{}, d).Handle(t.Context(), create(`{"name":"n"}`))
	if got, ok := seen.(*unstructured.Unstructured); !ok || got.Object["name"] != "n" {
		t.Errorf("named *Unstructured: %T %v", seen, seen)
	}
	req := create(`{"name":"n"}`)
	req.Kind.Group, req.Kind.Version, req.Kind.Kind = thingKind.Group, thingKind.Version, thingKind.Kind
	admission.WithDefaulter[runtime.Object](scheme(), d).Handle(t.Context(), req)
	if got, ok := seen.(*thing); !ok || got.Name != "n" {
		t.Errorf("named nothing: %T %v", seen, seen)
	}
	req.Kind.Kind = "Other"
	if r := admission.WithDefaulter[runtime.Object](scheme(), d).Handle(t.Context(), req); r.Allowed || r.Result.Code != 400 {
		t.Errorf("a kind that the scheme does not know: %+v", r)
	}
}

// FuzzPatchesLeadToWhatTheDefaulterMeant checks, for any object, that the patch can be applied, that the type sees in the
// result what the Defaulter left, and that fields at the top and in objects that the type does not know are still there.
func FuzzPatchesLeadToWhatTheDefaulterMeant(f *testing.F) {
	for _, seed := range []string{
		`{"parts":[{"name":"a","x":[{"y":1}]},{"name":"b"},{"name":"c","value":3}],"unknown":{"a/b~c":1}}`,
		`{"parts":[{},{},{"x":1}],"inner":{"on":true,"z":null},"free":{"k":[1,[2,{"l":null}]]}}`,
		`{"pArts":[{}],"TOTAL":1}`, // names are case-sensitive
		`{"parts":[{"name":"a"},{"name":"a","x":2},{"name":"a","x":3}],"total":1}`,
	} {
		for _, how := range []uint8{0, 1, 2, 3, 4, 5} {
			f.Add(seed, how)
		}
	}
	f.Fuzz(func(t *testing.T, sent string, how uint8) {
		var fields map[string]any
		var decoded thing
		if utiljson.Unmarshal([]byte(sent), &fields) != nil || fields == nil || utiljson.Unmarshal([]byte(sent), &decoded) != nil {
			return
		}
		var meant thing
		hook := admission.WithDefaulter(scheme(), defaultFunc(func(_ context.Context, g *thing) error {
			for i := range g.Parts {
				switch how % 6 {
				case 0:
					g.Parts[i].Value++
				case 1:
					g.Parts[i].Name += "!"
				}
			}
			switch how % 6 {
			case 2:
				g.Parts = append([]part{{Name: "new"}}, g.Parts...)
			case 3:
				if len(g.Parts) > 0 {
					g.Parts = g.Parts[1:]
				}
			case 4:
				for i, j := 0, len(g.Parts)-1; i < j; i, j = i+1, j-1 {
					g.Parts[i], g.Parts[j] = g.Parts[j], g.Parts[i]
				}
			case 5:
				g.Inner = &inner{On: !(g.Inner != nil && g.Inner.On)}
				g.Free = map[string]any{"set": []any{"x"}}
			}
			meant = *g
			return nil
		}))
		r := hook.Handle(t.Context(), create(sent))
		if !r.Allowed {
			return
		}
		got := patched(t, sent, r)
		var seen thing
		if err := utiljson.Unmarshal([]byte(got), &seen); err != nil {
			t.Fatalf("%s becomes %s: %v", sent, got, err)
		}
		wanted, err := json.Marshal(meant)
		if err != nil {
			t.Fatal(err)
		}
		result, err := json.Marshal(seen)
		if err != nil {
			t.Fatal(err)
		}
		if string(wanted) != string(result) {
			t.Fatalf("%s becomes %s, in which the type sees %s, not %s", sent, got, result, wanted)
		}
		var after map[string]any
		if err := utiljson.Unmarshal([]byte(got), &after); err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, field := range reflect.VisibleFields(reflect.TypeFor[thing]()) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			known[name] = true
		}
		for name, value := range fields {
			if !known[name] && !reflect.DeepEqual(after[name], value) {
				t.Fatalf("%s becomes %s, where %q has changed", sent, got, name)
			}
		}
	})
}

// What a Defaulter leaves alone is compared as it is and not taken apart: only decoding it costs allocations.
func TestADefaultCostsNoAllocationsForFieldsItDoesNotTouch(t *testing.T) {
	allocations := func(parts int, change func(*thing)) float64 {
		g := thing{Name: "n"}
		for i := range parts {
			g.Parts = append(g.Parts, part{Name: strings.Repeat("x", i%7+1), Value: i})
		}
		sent, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		hook := admission.WithDefaulter(scheme(), defaultFunc(func(_ context.Context, g *thing) error { change(g); return nil }))
		req := create(string(sent))
		return testing.AllocsPerRun(5, func() { hook.Handle(t.Context(), req) })
	}
	set, leave := func(g *thing) { g.Replicas = 2 }, func(*thing) {}
	few, many := allocations(10, set)-allocations(10, leave), allocations(500, set)-allocations(500, leave)
	if many > few+50 {
		t.Errorf("to set one field costs %v allocations beside 10 parts, and %v beside 500", few, many)
	}
}
