package cache

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// bench is a store of ConfigMaps with one feed and one handler, driven by hand.
type bench struct {
	t    *testing.T
	s    *store
	f    *feed
	rec  *recorder
	reg  *registration
	seen int
}

func newBench(t *testing.T, c Config, f form) *bench {
	r := &resource{gvk: corev1.SchemeGroupVersion.WithKind("ConfigMap"), gvr: corev1.SchemeGroupVersion.WithResource("configmaps"), namespaced: true, goType: configMapType}
	s := newStore(r, []settings{{Config: c}}, false)
	held := s.want(f, toHandle)
	b := &bench{t: t, s: s, f: s.feeds()[0], rec: newRecorder()}
	b.reg = &registration{store: s, form: f, handler: b.rec, synced: newGate(), removed: newGate(), claim: held, wake: make(chan struct{}, 1)}
	s.register(b.reg)
	return b
}

// thing is a ConfigMap at a resourceVersion.
func thing(name, uid string, rv string, set ...string) *corev1.ConfigMap {
	cm := configMap("a", name, map[string]string{}, rv)
	for _, l := range set {
		cm.Labels[l] = "yes"
	}
	cm.UID, cm.ResourceVersion = types.UID(uid), rv
	return cm
}

func (b *bench) entry(obj client.Object) *entry {
	b.t.Helper()
	e, err := b.s.plan.entry(obj, b.f.Transform)
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

func (b *bench) list(rv string, objs ...*corev1.ConfigMap) {
	b.t.Helper()
	var list []*entry
	for _, obj := range objs {
		list = append(list, b.entry(obj))
	}
	b.s.replace(b.f, b.s.plan, list, rv)
}

func (b *bench) watch(obj *corev1.ConfigMap) { b.t.Helper(); b.s.watched(b.f, b.entry(obj)) }
func (b *bench) end(obj *corev1.ConfigMap)   { b.t.Helper(); b.s.watchedEnd(b.f, b.entry(obj)) }
func (b *bench) write(obj *corev1.ConfigMap) {
	b.s.observe(b.s.plan, client.Written{GVK: b.s.gvk, Object: obj})
}

// expect compares the version of a/x, "" for none, and the events since the last call.
func (b *bench) expect(step, version, events string) {
	b.t.Helper()
	have := ""
	if e := b.s.get(client.ObjectKey{Namespace: "a", Name: "x"}); e != nil {
		have = e.meta.ResourceVersion
	}
	if have != version {
		b.t.Errorf("%s: version %q, want %q", step, have, version)
	}
	b.reg.handOver(b.t.Context())
	all := b.rec.all()
	if got := strings.ReplaceAll(strings.Join(all[b.seen:], ", "), " a/", " "); got != events {
		b.t.Errorf("%s: events %q, want %q", step, got, events)
	}
	b.seen = len(all)
	if len(b.rec.bad) > 0 {
		b.t.Errorf("%s: %v", step, b.rec.bad)
	}
}

func TestAnOwnWriteIsShownOnceAndAtOnce(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	b.list("10", thing("x", "u", "9"))
	b.expect("list", "9", "add x true")
	b.write(thing("x", "u", "12"))
	b.expect("own write", "12", "update x")
	b.watch(thing("x", "u", "11"))
	b.expect("an older event", "12", "")
	b.watch(thing("x", "u", "12"))
	b.expect("its event", "12", "")
	b.write(thing("x", "u", "11"))
	b.expect("the answer to an older write", "12", "")
	b.watch(thing("x", "u", "13"))
	b.expect("a newer event", "13", "update x")
	b.list("14", thing("x", "u", "13"))
	b.expect("a list that says the same", "13", "")
}

func TestAListDoesNotUndoANewerOwnWrite(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	b.list("10")
	b.expect("list", "", "")
	b.write(thing("x", "u", "12"))
	b.expect("own create", "12", "add x false")
	b.list("11")
	b.expect("a list from before", "12", "")
	b.list("13")
	b.expect("a list from after its deletion", "", "delete x")
	b.write(thing("x", "u", "12"))
	b.expect("a late answer", "", "")
}

func TestAnOwnDeletionIsFinal(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	b.list("10", thing("x", "u", "9"))
	b.expect("list", "9", "add x true")
	b.s.deleted(client.ObjectKey{Namespace: "a", Name: "x"}, "u", 0)
	b.expect("own delete", "", "delete x")
	b.watch(thing("x", "u", "11"))
	b.expect("an event from before", "", "")
	b.list("11", thing("x", "u", "11"))
	b.expect("a list from before", "", "")
	b.watch(thing("x", "v", "13"))
	b.expect("another one under its name", "13", "add x false")
	b.end(thing("x", "u", "12"))
	b.expect("the end of the first", "13", "")
	if len(b.s.ended) != 0 {
		t.Errorf("its end is still remembered: %v", b.s.ended)
	}
}

func TestWhatIsRememberedOfEndsIsForgotten(t *testing.T) {
	key := client.ObjectKey{Namespace: "a", Name: "x"}
	t.Run("by a list without it", func(t *testing.T) {
		b := newBench(t, Config{}, formTyped)
		b.list("10")
		b.write(thing("x", "u", "15"))
		b.s.deleted(key, "u", 0)
		b.list("12")
		if len(b.s.ended) != 1 || len(b.s.absent) != 1 {
			t.Error("forgotten by a list from before it was there")
		}
		b.list("20")
		if len(b.s.ended) != 0 || len(b.s.absent) != 0 {
			t.Errorf("remembered: %v, %v", b.s.ended, b.s.absent)
		}
	})
	t.Run("by a bookmark", func(t *testing.T) {
		b := newBench(t, Config{}, formTyped)
		b.list("10", thing("x", "u", "9"))
		b.end(thing("x", "u", "12"))
		if len(b.s.absent) != 1 {
			t.Error("not remembered")
		}
		b.write(thing("x", "u", "11"))
		b.expect("a late answer", "", "add x true, delete x")
		b.s.progress(b.f, "12")
		if len(b.s.absent) != 0 {
			t.Errorf("remembered: %v", b.s.absent)
		}
		b.write(thing("x", "u", "11"))
		b.expect("a later answer", "", "")
	})
	t.Run("by time", func(t *testing.T) {
		b := newBench(t, Config{LabelSelector: labels.SelectorFromSet(labels.Set{"in": "yes"})}, formTyped)
		b.list("10", thing("x", "u", "9", "in"))
		b.s.deleted(key, "u", 0)
		b.end(thing("y", "w", "12", "in"))
		b.s.sweep(time.Now().Add(memoryOfEnds / 2))
		if len(b.s.ended) != 1 || len(b.s.absent) != 1 {
			t.Errorf("remembered: %v, %v", b.s.ended, b.s.absent)
		}
		b.s.sweep(time.Now().Add(memoryOfEnds + time.Second))
		if len(b.s.ended) != 0 || len(b.s.absent) != 0 {
			t.Errorf("remembered: %v, %v", b.s.ended, b.s.absent)
		}
	})
}

func TestLeavingASelectionIsNotTheEnd(t *testing.T) {
	b := newBench(t, Config{LabelSelector: labels.SelectorFromSet(labels.Set{"in": "yes"})}, formTyped)
	b.list("10", thing("x", "u", "9", "in"))
	b.expect("list", "9", "add x true")
	b.write(thing("x", "u", "12"))
	b.expect("own write leaves", "", "delete x")
	b.watch(thing("x", "u", "11", "in"))
	b.expect("an older event", "", "")
	b.write(thing("x", "u", "14", "in"))
	b.expect("own write comes back", "14", "add x false")
	b.end(thing("x", "u", "12", "in"))
	b.expect("the event of its leaving", "14", "")
	b.watch(thing("x", "u", "14", "in"))
	b.expect("the event of its coming back", "14", "")
	b.s.deleted(client.ObjectKey{Namespace: "a", Name: "x"}, "u", 0)
	b.expect("own delete", "", "delete x")
	b.end(thing("x", "u", "15", "in"))
	b.watch(thing("x", "u", "16", "in"))
	b.expect("it had left and come back before", "", "")
}

func TestAnObjectMadeAgainIsAnother(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	b.list("10", thing("x", "u", "9"))
	b.expect("list", "9", "add x true")
	b.list("20", thing("x", "v", "15"))
	b.expect("made again", "15", "delete x, add x false")
}

func TestTheLastFinalizerTakesTheObjectAlong(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	held := thing("x", "u", "9")
	held.Finalizers = []string{"example.com/hold"}
	b.list("10", held)
	b.expect("list", "9", "add x true")
	dying := held.DeepCopy()
	dying.DeletionTimestamp, dying.ResourceVersion = &metav1.Time{Time: time.Unix(1, 0)}, "11"
	b.write(dying)
	b.expect("asked to go", "11", "update x")
	free := dying.DeepCopy()
	free.Finalizers, free.ResourceVersion = nil, "12"
	b.write(free)
	b.expect("let go", "", "delete x")
	grace := int64(30)
	pod := dying.DeepCopy()
	pod.UID, pod.Finalizers, pod.DeletionGracePeriodSeconds, pod.ResourceVersion = "v", nil, &grace, "13"
	b.write(pod)
	b.expect("one with a grace period stays", "13", "add x false")
}

func TestAServerThatWasSetBackIsBelieved(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	b.list("100", thing("x", "u", "90"))
	b.watch(thing("y", "v", "110"))
	b.watch(thing("x", "u", "120"))
	b.expect("at first", "120", "add x true, add y false, update x")
	b.list("50", thing("x", "u", "40"))
	b.expect("set back", "40", "update x, delete y")
	b.watch(thing("x", "u", "51"))
	b.expect("goes on", "51", "update x")
	b.write(thing("x", "u", "53"))
	b.watch(thing("x", "u", "52"))
	b.expect("own write", "53", "update x")
}

func TestVersionsThatAreNoIntegers(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	b.list("l1", thing("x", "u", "z9"))
	b.expect("list", "z9", "add x true")
	b.write(thing("x", "u", "z8"))
	b.expect("an own write waits for its event", "z9", "")
	b.watch(thing("x", "u", "a1"))
	b.expect("events are applied as they come", "a1", "update x")
	b.end(thing("x", "u", "a2"))
	b.expect("deletions too", "", "delete x")
	b.list("l2", thing("x", "v", "b"))
	b.expect("a list", "b", "add x false")
	b.s.deleted(client.ObjectKey{Namespace: "a", Name: "x"}, "v", 0)
	b.expect("an own deletion shows at once", "", "delete x")
	b.watch(thing("x", "v", "b2"))
	b.expect("and is final", "", "")
}

func TestAFullerFormReplacesALesserOneOfTheSameVersion(t *testing.T) {
	b := newBench(t, Config{}, formMetadata)
	b.rec.completes = true
	b.list("10", thing("x", "u", "9"))
	b.expect("list", "9", "add x true")
	lesser := b.s.plan
	if b.s.want(formFull, toHandle); b.s.plan == lesser || b.s.isReady(formFull) || !b.s.isReady(formMetadata) {
		t.Fatal("the plan did not change, or metadata can no longer be read")
	}
	b.write(thing("x", "u", "12")) // its Go type need not know all
	b.expect("own write in between", "12", "update x")
	u, err := toFull(b.s.resource, thing("x", "u", "12"))
	if err != nil {
		t.Fatal(err)
	}
	u.Object["unknown"] = "field"
	b.s.replace(b.f, b.s.plan, []*entry{b.entry(u)}, "12")
	b.expect("the list in the fuller form", "12", "update x")
	for f := range numForms {
		obj, err := b.s.get(client.ObjectKey{Namespace: "a", Name: "x"}).view(b.s.resource, f)
		if err != nil || !b.s.isReady(f) || obj.GetResourceVersion() != "12" {
			t.Errorf("%s: %v, %v", f, obj, err)
		}
		if f == formFull && obj.(runtime.Unstructured).UnstructuredContent()["unknown"] != "field" {
			t.Errorf("the unknown field is lost: %v", obj)
		}
	}
	fuller := b.s.plan
	if b.s.want(formTyped, toHandle); b.s.plan != fuller {
		t.Error("a lesser form changed the plan")
	}
}

func TestTransformsSeeEachFormThatIsRead(t *testing.T) {
	var saw []string
	b := newBench(t, Config{Transform: func(in any) (any, error) {
		obj := in.(client.Object)
		saw = append(saw, fmt.Sprintf("%T", in))
		if len(obj.GetManagedFields()) > 0 {
			t.Error("managed fields are still there")
		}
		obj.SetLabels(map[string]string{"transformed": "yes"})
		return obj, nil
	}}, formTyped)
	cm := thing("x", "u", "9")
	cm.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	b.list("10", cm)
	b.write(thing("x", "u", "11"))
	b.expect("typed", "11", "add x true, update x")
	b.s.want(formFull, toHandle)
	u, err := toFull(b.s.resource, thing("x", "u", "11"))
	if err != nil {
		t.Fatal(err)
	}
	b.s.replace(b.f, b.s.plan, []*entry{b.entry(u)}, "12")
	if got := strings.Join(saw, " "); got != "*v1.ConfigMap *v1.ConfigMap *v1.ConfigMap *unstructured.Unstructured" {
		t.Errorf("transformed: %s", got)
	}
	if b.s.isReady(formMetadata) {
		t.Error("a form that the transform did not see can be read")
	}
	for _, f := range []form{formTyped, formFull} {
		obj, err := b.s.get(client.ObjectKey{Namespace: "a", Name: "x"}).view(b.s.resource, f)
		if err != nil || obj.GetLabels()["transformed"] != "yes" {
			t.Errorf("%s: %v, %v", f, obj, err)
		}
	}
	if found, err := b.s.find(query{labels: requirements(t, "transformed=yes")}); err != nil || len(found) != 1 {
		t.Errorf("by the transform's label: %v, %v", found, err)
	}
}

func TestAHandlerThatComesLateHearsOfAllThatIsThere(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	b.list("10", thing("x", "u", "9"), thing("y", "v", "8"))
	late := newRecorder()
	reg := &registration{store: b.s, form: formMetadata, handler: late, synced: newGate(), removed: newGate(), claim: b.reg.claim, wake: make(chan struct{}, 1)}
	b.s.register(reg)
	b.watch(thing("x", "u", "11"))
	if reg.HasSynced() {
		t.Error("synced before anything was handed over")
	}
	reg.handOver(t.Context())
	if !reg.HasSynced() || !late.has("add a/x true") || !late.has("add a/y true") || !late.has("update a/x") || len(late.bad) > 0 {
		t.Errorf("events: %v, %v", late.all(), late.bad)
	}
	if _, ok := late.content["a/x"].(*metav1.PartialObjectMetadata); !ok {
		t.Errorf("handed over: %T", late.content["a/x"])
	}
	b.s.unregister(reg)
	b.s.unregister(reg)
	n := len(late.all())
	b.watch(thing("x", "u", "12"))
	reg.handOver(t.Context())
	if len(late.all()) != n {
		t.Error("a removed handler was told")
	}
}

func TestAResyncTellsOfEverythingAgain(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	b.list("10", thing("x", "u", "9"))
	b.expect("list", "9", "add x true")
	b.reg.again()
	b.reg.handOver(t.Context())
	if got := b.rec.all()[1:]; len(got) != 1 || got[0] != "update a/x" {
		t.Errorf("events: %v", got)
	}
}

func TestEntriesShareWhatTheyHaveInCommonAndNothingElse(t *testing.T) {
	for _, f := range []form{formTyped, formFull} {
		t.Run(f.String(), func(t *testing.T) {
			b := newBench(t, Config{}, f)
			admit := func(cm *corev1.ConfigMap) *entry {
				var obj client.Object = cm
				if f == formFull {
					u, err := toFull(b.s.resource, cm)
					if err != nil {
						t.Fatal(err)
					}
					obj = u
				}
				return b.entry(obj)
			}
			first, second := admit(thing("x", "u", "9", "in")), admit(thing("y", "v", "10", "in"))
			want := second.obj.DeepCopyObject()
			second.share(first)
			if !second.sharesLabels {
				t.Error("equal labels are there twice")
			}
			if !jsonEqual(t, want, second.obj) {
				t.Errorf("sharing changed the object: %v", second.obj)
			}
			third := admit(thing("z", "w", "11", "in", "out"))
			third.share(first)
			if third.sharesLabels || len(third.meta.Labels) != 2 || len(first.meta.Labels) != 1 {
				t.Errorf("labels: %v, %v", third.meta.Labels, first.meta.Labels)
			}
		})
	}
}
