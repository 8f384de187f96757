package cache

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// world is a server with its history, a store that follows it through slow and unreliable feeds, and a client that
// writes and tells the store of it late.
type world struct {
	t      *testing.T
	rand   *rand.Rand
	rv     uint64
	now    map[client.ObjectKey]*corev1.ConfigMap
	past   map[client.ObjectKey][]moment
	store  *store
	plan   *plan
	lines  map[*feed]*line
	acks   []func()
	read   map[client.ObjectKey]uint64 // the latest moment that a read or an own write has shown of a key
	rec    *recorder
	reg    *registration
	script []string
}

// moment is what a feed can see of a key from a resourceVersion on.
type moment struct {
	rv   uint64
	seen bool
}

// line is what is on its way to the store from one feed.
type line struct {
	events   []wire
	arrived  []wire // since the last list or bookmark: they may arrive once more
	snapshot []*corev1.ConfigMap
	at       uint64 // of the snapshot; 0 if none is on its way
	told     uint64 // up to here, events have been put on the line
}

type wire struct {
	obj  *corev1.ConfigMap
	gone bool
}

func newWorld(t *testing.T, seed uint64) *world {
	r := &resource{gvk: corev1.SchemeGroupVersion.WithKind("ConfigMap"), gvr: corev1.SchemeGroupVersion.WithResource("configmaps"), namespaced: true, goType: configMapType}
	chosen := Config{LabelSelector: labels.SelectorFromSet(labels.Set{"in": "yes"})}
	w := &world{
		t: t, rand: rand.New(rand.NewPCG(seed, 1)), now: map[client.ObjectKey]*corev1.ConfigMap{}, past: map[client.ObjectKey][]moment{},
		store: newStore(r, []settings{{namespace: "a"}, {namespace: "b", Config: chosen}, {except: []string{"a", "b"}}}, false),
		lines: map[*feed]*line{}, read: map[client.ObjectKey]uint64{}, rec: newRecorder(), rv: 10,
	}
	switch seed % 3 { // in every way that entries can be held
	case 1:
		w.store.compact = &packer{}
	case 2:
		w.store.detector = newDetector(func(m Mutation) { t.Error(m) })
	}
	w.store.want(form(w.rand.IntN(int(numForms))), toHandle)
	w.plan = w.store.plan
	for _, f := range w.store.feeds() {
		w.lines[f] = &line{}
		w.relist(f)
	}
	w.reg = &registration{store: w.store, handler: w.rec, synced: newGate(), removed: newGate(), claim: w.store.claims[w.plan.base], wake: make(chan struct{}, 1)}
	w.store.register(w.reg)
	return w
}

func (w *world) fatalf(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.script[max(0, len(w.script)-60):] {
		w.t.Log(line)
	}
	w.t.Fatalf(format, args...)
}

func (w *world) note(format string, args ...any) {
	w.script = append(w.script, fmt.Sprintf(format, args...))
}

// visible says whether the feed of a key selects an object.
func (w *world) visible(obj *corev1.ConfigMap) bool {
	f := w.store.feedFor(obj.Namespace)
	return f.LabelSelector == nil || f.LabelSelector.Matches(labels.Set(obj.Labels))
}

// write makes next, or the absence of an object if it is nil, the state of key, and returns it.
func (w *world) write(key client.ObjectKey, next *corev1.ConfigMap) *corev1.ConfigMap {
	w.rv++
	old := w.now[key]
	f := w.store.feedFor(key.Namespace)
	l := w.lines[f]
	was := old != nil && w.visible(old)
	if next == nil {
		delete(w.now, key)
	} else {
		next.ResourceVersion = strconv.FormatUint(w.rv, 10)
		w.now[key] = next
	}
	is := next != nil && w.visible(next)
	switch {
	case is:
		l.events = append(l.events, wire{obj: next})
	case was:
		last := old.DeepCopy()
		last.ResourceVersion = strconv.FormatUint(w.rv, 10)
		l.events = append(l.events, wire{obj: last, gone: true})
	}
	w.past[key] = append(w.past[key], moment{rv: w.rv, seen: is})
	return next
}

// change picks a key and something to happen to it. own says that it is the client's doing.
func (w *world) change(own bool) {
	key := client.ObjectKey{Namespace: string("abcd"[w.rand.IntN(4)]), Name: strconv.Itoa(w.rand.IntN(3))}
	cur := w.now[key]
	var next *corev1.ConfigMap
	switch {
	case cur == nil:
		next = configMap(key.Namespace, key.Name, nil, "")
		next.UID = types.UID(fmt.Sprintf("uid-%d", w.rv+1))
	case w.rand.IntN(4) == 0: // delete
		w.delete(key, cur, own)
		return
	default:
		next = cur.DeepCopy()
	}
	next.Labels = map[string]string{"in": []string{"yes", "no"}[w.rand.IntN(2)]}
	next.Data = map[string]string{"n": strconv.FormatUint(w.rv, 10)}
	if cur != nil && cur.DeletionTimestamp != nil && w.rand.IntN(2) == 0 {
		// The last finalizer goes, and the object with it. The answer shows it without.
		next.Finalizers = nil
		w.write(key, nil)
		w.note("%d: %v finalized, own %t", w.rv, key, own)
		if own {
			w.ackDelete(key, cur.UID, w.rv, func() { w.observe(next) })
		}
		return
	}
	if w.rand.IntN(4) == 0 && next.DeletionTimestamp == nil {
		next.Finalizers = []string{"example.com/hold"}
	}
	w.write(key, next)
	w.note("%d: %v written (%s), %v, own %t", w.rv, key, next.UID, next.Labels, own)
	if own {
		at := w.rv
		w.acks = append(w.acks, func() {
			w.note("ack of %d: %v", at, key)
			w.observe(next)
			w.read[key] = max(w.read[key], at)
		})
	}
}

func (w *world) delete(key client.ObjectKey, cur *corev1.ConfigMap, own bool) {
	if len(cur.Finalizers) > 0 {
		if cur.DeletionTimestamp == nil {
			next := cur.DeepCopy()
			next.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Rfc3339Copy().Time}
			w.write(key, next)
			w.note("%d: %v terminating, own %t", w.rv, key, own)
			if own {
				at := w.rv
				w.acks = append(w.acks, func() {
					w.observe(next)
					w.read[key] = max(w.read[key], at)
				})
			}
		}
		return
	}
	w.write(key, nil)
	w.note("%d: %v deleted (%s), own %t", w.rv, key, cur.UID, own)
	if own {
		w.ackDelete(key, cur.UID, w.rv, func() { w.store.deleted(key, cur.UID, 0) })
	}
}

func (w *world) ackDelete(key client.ObjectKey, uid types.UID, at uint64, tell func()) {
	w.acks = append(w.acks, func() {
		w.note("ack of %d: %v is gone (%s)", at, key, uid)
		had := w.store.get(key)
		tell()
		if had == nil || had.meta.UID != uid {
			return // events of an earlier object of the name may be to come: the answer does not tell that it is the earlier one
		}
		w.read[key] = max(w.read[key], at)
	})
}

func (w *world) observe(obj *corev1.ConfigMap) {
	raw, _ := json.Marshal(obj)
	written := client.Written{GVK: w.store.gvk, Object: obj}
	if w.plan.base == formFull {
		written.JSON = raw
	}
	for !w.store.observe(w.store.currentPlan(), written) {
	}
}

// relist cuts a feed's watch and puts a list in its place.
func (w *world) relist(f *feed) {
	l := w.lines[f]
	*l = line{at: w.rv, told: w.rv}
	for key, obj := range w.now {
		if w.store.feedFor(key.Namespace) == f && w.visible(obj) {
			l.snapshot = append(l.snapshot, obj)
		}
	}
	w.note("list of %q at %d", f.namespace, w.rv)
}

func (w *world) admit(f *feed, obj *corev1.ConfigMap) *entry {
	var in client.Object = obj.DeepCopy()
	if w.plan.base == formFull {
		full, err := toFull(w.store.resource, in)
		if err != nil {
			w.t.Fatal(err)
		}
		in = full
	}
	e, err := w.plan.entry(in, f.Transform)
	if err != nil {
		w.t.Fatal(err)
	}
	w.store.condense(e, w.store.relative(e))
	return e
}

// arrive lets something arrive from a feed: the list it waits for, or else the first pending event of some key, or one that
// has arrived before.
func (w *world) arrive(f *feed) {
	l := w.lines[f]
	if l.at != 0 {
		var list []*entry
		for _, obj := range l.snapshot {
			list = append(list, w.admit(f, obj))
		}
		w.note("list of %q at %d arrives", f.namespace, l.at)
		w.store.replace(f, w.plan, list, strconv.FormatUint(l.at, 10))
		l.at, l.snapshot = 0, nil
		return
	}
	if len(l.arrived) > 0 && w.rand.IntN(8) == 0 {
		w.deliver(f, l.arrived[w.rand.IntN(len(l.arrived))])
		return
	}
	if len(l.events) == 0 {
		w.store.progress(f, strconv.FormatUint(w.rv, 10))
		l.arrived = nil
		return
	}
	i := w.rand.IntN(len(l.events))
	for j := range i {
		if l.events[j].obj.Namespace == l.events[i].obj.Namespace && l.events[j].obj.Name == l.events[i].obj.Name {
			i = j
			break
		}
	}
	e := l.events[i]
	l.events = slices.Delete(l.events, i, i+1)
	l.arrived = append(l.arrived, e)
	w.deliver(f, e)
}

// deliver has an event arrive.
func (w *world) deliver(f *feed, e wire) {
	w.note("event %s of %s/%s (%s), gone %t", e.obj.ResourceVersion, e.obj.Namespace, e.obj.Name, e.obj.UID, e.gone)
	if e.gone {
		w.store.watchedEnd(f, w.admit(f, e.obj))
	} else {
		w.store.watched(f, w.admit(f, e.obj))
	}
}

// check reads all keys: what is read must be what some moment showed that is not before those shown already.
func (w *world) check() {
	for key, past := range w.past {
		e := w.store.get(key)
		begin, seen := uint64(0), false
		ok := false
		for i := 0; i <= len(past) && !ok; i++ {
			end := ^uint64(0)
			if i < len(past) {
				end = past[i].rv
			}
			if end > w.read[key] && (e == nil && !seen || e != nil && seen && e.rv == begin) {
				w.read[key] = max(w.read[key], begin)
				ok = true
			}
			if i < len(past) {
				begin, seen = past[i].rv, past[i].seen
			}
		}
		if !ok {
			have := "nothing"
			if e != nil {
				have = fmt.Sprintf("version %d (%s)", e.rv, e.meta.UID)
			}
			w.fatalf("%v: read %s, after something of %d was shown; its history: %v", key, have, w.read[key], past)
		}
	}
}

// settle lets all arrive and compares the store, and what the handler was told, with the truth.
func (w *world) settle() {
	for _, ack := range w.acks {
		ack()
		w.check()
	}
	w.acks = nil
	for _, f := range w.store.feeds() {
		for l := w.lines[f]; l.at != 0 || len(l.events) > 0; {
			w.arrive(f)
			w.check()
		}
	}
	n := 0
	for key, obj := range w.now {
		if !w.visible(obj) {
			continue
		}
		n++
		e := w.store.get(key)
		if e == nil || e.meta.ResourceVersion != obj.ResourceVersion {
			w.fatalf("%v: the store has %v, the truth is %s", key, e, obj.ResourceVersion)
		}
		seen, err := e.view(w.store.resource, formMetadata)
		if err != nil || seen.GetResourceVersion() != obj.ResourceVersion || seen.GetLabels()["in"] != obj.Labels["in"] {
			w.fatalf("%v: a reader sees %v, %v", key, seen, err)
		}
	}
	if w.store.size != n {
		w.fatalf("the store holds %d objects, the truth has %d", w.store.size, n)
	}
	w.reg.handOver(w.t.Context())
	if len(w.rec.bad) > 0 {
		w.fatalf("handler: %v", w.rec.bad)
	}
	if len(w.rec.content) != n {
		w.fatalf("the handler knows %d objects, the truth has %d", len(w.rec.content), n)
	}
	for _, obj := range w.rec.content {
		if e := w.store.get(client.ObjectKeyFromObject(obj)); e == nil || e.meta.ResourceVersion != obj.GetResourceVersion() {
			w.fatalf("the handler has another %s", client.ObjectKeyFromObject(obj))
		}
	}
	w.checkIndexes()
	if d := w.store.detector; d != nil {
		d.checkAll(time.Now())
	}
}

// checkIndexes compares what the indexes find with what is there.
func (w *world) checkIndexes() {
	for _, value := range []string{"yes", "no"} {
		req, _ := labels.NewRequirement("in", "in", []string{value})
		found, err := w.store.find(query{labels: labels.Requirements{*req}})
		if err != nil {
			w.t.Fatal(err)
		}
		want := 0
		w.store.all("", func(at *slot) bool {
			if at.now.meta.Labels["in"] == value {
				want++
			}
			return true
		})
		if len(found) != want {
			w.fatalf("%d objects found by in=%s, there are %d", len(found), value, want)
		}
	}
}

func TestReadsNeverGoBackAndNeverMissAnOwnWrite(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		w := newWorld(t, seed)
		for range 400 {
			switch n := w.rand.IntN(100); {
			case n < 25:
				w.change(true)
			case n < 40:
				w.change(false)
			case n < 60 && len(w.acks) > 0:
				i := w.rand.IntN(len(w.acks))
				ack := w.acks[i]
				w.acks = slices.Delete(w.acks, i, i+1)
				ack()
			case n < 62:
				w.relist(w.store.feeds()[w.rand.IntN(3)])
			case n == 62:
				w.upgrade()
			default:
				w.arrive(w.store.feeds()[w.rand.IntN(3)])
			}
			w.check()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		w.settle()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// upgrade has a fuller form asked for, as another reader would.
func (w *world) upgrade() {
	before := w.store.plan
	if w.store.want(form(w.rand.IntN(int(numForms))), toHandle); w.store.plan == before {
		return
	}
	w.plan = w.store.plan
	for _, f := range w.store.feeds() {
		w.relist(f)
	}
	w.note("form %s", w.plan.base)
}
