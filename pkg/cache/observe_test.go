package cache

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

var configMapKind = corev1.SchemeGroupVersion.WithKind("ConfigMap")

// inForm is a ConfigMap as a client of that form writes it.
func inForm(t testing.TB, f form, cm *corev1.ConfigMap) client.Object {
	t.Helper()
	switch f {
	case formMetadata:
		m := &metav1.PartialObjectMetadata{ObjectMeta: *cm.ObjectMeta.DeepCopy()}
		m.SetGroupVersionKind(configMapKind)
		return m
	case formTyped:
		return cm
	}
	content, err := json.Marshal(cm)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(content); err != nil {
		t.Fatal(err)
	}
	return u
}

// Whatever form the store is in and whatever form the writer used, readers in the store's forms see the write.
func TestWritesInAnyFormReachReadersInAnyForm(t *testing.T) {
	for held := range numForms {
		for wrote := range numForms {
			t.Run(fmt.Sprintf("%s written, %s held", wrote, held), func(t *testing.T) {
				s := newTestServer(t)
				s.put("configmaps", configMap("a", "x", nil, "before"))
				c := startCache(t, s, Options{}).(*stores)
				var kind client.Object = inForm(t, held, configMap("a", "x", nil, ""))
				if _, err := c.GetInformer(t.Context(), kind); err != nil {
					t.Fatal(err)
				}
				// The server has no event for this version, so that only the answer can bring it.
				now := configMap("a", "x", map[string]string{"l": "1"}, "after")
				cur := c.storeOf(configMapKind).get(client.ObjectKey{Namespace: "a", Name: "x"})
				now.UID, now.ResourceVersion = cur.meta.UID, strconv.FormatUint(cur.rv+1, 10)
				obj := inForm(t, wrote, now)
				w := client.Written{GVK: configMapKind, Object: obj}
				if needs := c.NeedsJSON(configMapKind, obj); needs {
					w.JSON, _ = json.Marshal(now)
				} else if wrote < held {
					t.Error("NeedsJSON does not ask for what the writer's form cannot carry")
				}
				c.ObserveWrite(w)
				obj.SetLabels(map[string]string{"l": "changed by the writer"})
				for f := range held + 1 {
					got := inForm(t, f, configMap("a", "x", nil, ""))
					if err := c.Get(t.Context(), client.ObjectKeyFromObject(now), got); err != nil {
						t.Fatal(err)
					}
					if got.GetResourceVersion() != now.ResourceVersion || got.GetLabels()["l"] != "1" || got.GetUID() != now.UID {
						t.Errorf("read as %s: %v", f, got)
					}
					if cm, ok := got.(*corev1.ConfigMap); ok && cm.Data["data"] != "after" {
						t.Errorf("data: %v", cm.Data)
					}
				}
			})
		}
	}
}

func TestAnAnswerOfMetadataKeepsTheRest(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	b.rec.completes = true
	b.list("10", thing("x", "u", "9"))
	b.expect("list", "9", "add x true")
	b.s.observe(b.s.plan, client.Written{GVK: configMapKind, Object: inForm(t, formMetadata, thing("x", "u", "11", "new"))})
	b.expect("own write", "11", "update x")
	obj := b.s.get(client.ObjectKey{Namespace: "a", Name: "x"}).obj.(*corev1.ConfigMap)
	if obj.Labels["new"] != "yes" || obj.Data["data"] != "9" {
		t.Errorf("have %v", obj)
	}
	b.watch(thing("x", "u", "11", "new"))
	if obj := b.s.get(client.ObjectKey{Namespace: "a", Name: "x"}).obj.(*corev1.ConfigMap); obj.Data["data"] != "11" {
		t.Errorf("the event of that version did not complete it: %v", obj)
	}
	b.expect("its event", "11", "update x")
}

func TestFieldSelectorsHoldForOwnWrites(t *testing.T) {
	selector := func(sel string) Config {
		s, err := fields.ParseSelector(sel)
		if err != nil {
			t.Fatal(err)
		}
		return Config{FieldSelector: s}
	}
	const nothing = "-"
	tests := []struct {
		name, selector string
		there          bool // before the write
		want           string
		data           string
	}{
		{name: "the name", selector: "metadata.name=x", want: "11"},
		{name: "another name", selector: "metadata.name=y"},
		{name: "not the namespace", selector: "metadata.namespace!=a"},
		{name: "a path", selector: "data.data=11", want: "11"},
		{name: "a path, other value", selector: "data.data=12"},
		{name: "a path it leaves", selector: "data.data=9", there: true},
		{name: "not a path, new", selector: "status.known.to.the.server=1", want: ""},
		{name: "not a path, known", selector: "status.known.to.the.server=1", there: true, want: "11"},
		{name: "nothing at all", selector: nothing},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			config := Config{FieldSelector: fields.Nothing()}
			if test.selector != nothing {
				config = selector(test.selector)
			}
			b := newBench(t, config, formTyped)
			if test.there {
				b.list("10", thing("x", "u", "9"))
			} else {
				b.list("10")
			}
			b.write(thing("x", "u", "11"))
			have := ""
			if e := b.s.get(client.ObjectKey{Namespace: "a", Name: "x"}); e != nil {
				have = e.meta.ResourceVersion
			}
			if have != test.want {
				t.Errorf("version %q, want %q", have, test.want)
			}
		})
	}
}

func TestTheMostSpecificSettingHolds(t *testing.T) {
	yes, no := true, false
	f := func(in any) (any, error) { return in, nil }
	o := &Options{
		DefaultUnsafeDisableDeepCopy: &no, DefaultTransform: f,
		DefaultNamespaces: map[string]Config{"a": {UnsafeDisableDeepCopy: &yes}, "b": {}},
	}
	r := &resource{gvk: configMapKind, namespaced: true}
	find := func(by ByObject, namespace string) *settings {
		all, err := o.settingsOf(r, by, false)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if all[i].namespace == namespace {
				return &all[i]
			}
		}
		t.Fatalf("no feed for %q in %v", namespace, all)
		return nil
	}
	if s := find(ByObject{}, "a"); !*s.UnsafeDisableDeepCopy || s.Transform == nil {
		t.Error("a default of the namespace does not hold")
	}
	if s := find(ByObject{}, "b"); *s.UnsafeDisableDeepCopy {
		t.Error("the default does not hold")
	}
	if s := find(ByObject{UnsafeDisableDeepCopy: &no}, "a"); *s.UnsafeDisableDeepCopy {
		t.Error("the default of a namespace is above the kind's")
	}
	if s := find(ByObject{Namespaces: map[string]Config{"a": {}}}, "a"); !*s.UnsafeDisableDeepCopy {
		t.Error("the default of the namespace does not hold for a kind with its own namespaces")
	}
	if s := find(ByObject{Namespaces: map[string]Config{}}, AllNamespaces); len(s.except) != 0 {
		t.Error("an empty map is not all namespaces")
	}
	if _, err := o.settingsOf(&resource{gvk: configMapKind}, ByObject{Namespaces: map[string]Config{"a": {}}}, false); err == nil {
		t.Error("namespaces of a kind that has none")
	}
	all, err := o.settingsOf(&resource{gvk: configMapKind}, ByObject{}, false)
	if err != nil || len(all) != 1 || all[0].namespace != "" {
		t.Errorf("a kind without namespaces: %v, %v", all, err)
	}
}

// Readers in all forms, writers and a feed at the same time: for the race detector, and for the order of what is read.
func TestReadersAndWritersAtTheSameTime(t *testing.T) {
	s := newTestServer(t)
	for i := range 20 {
		s.put("configmaps", configMap("a", strconv.Itoa(i), map[string]string{"in": "yes", "n": strconv.Itoa(i)}, "0"))
	}
	c := startCache(t, s, Options{}).(*stores)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rec := newRecorder()
	i, err := c.GetInformer(ctx, &corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.AddEventHandler(rec); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	var own [20]atomic.Uint64
	for f := range numForms {
		readers.Go(func() {
			var last [20]uint64
			for n := 0; ctx.Err() == nil; n++ {
				k := n % 20
				obj := inForm(t, f, configMap("a", strconv.Itoa(k), nil, ""))
				must := own[k].Load()
				if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
					if ctx.Err() == nil {
						t.Error(err)
					}
					return
				}
				rv, _ := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
				if rv < last[k] || rv < must {
					t.Errorf("%d read as %s: version %d after %d, own write %d", k, f, rv, last[k], must)
					return
				}
				last[k] = rv
				obj.SetLabels(map[string]string{"mine": "now"})
				var l corev1.ConfigMapList
				if err := c.List(ctx, &l, client.MatchingLabels{"in": "yes"}); err == nil && len(l.Items) != 20 {
					t.Errorf("%d items", len(l.Items))
				}
			}
		})
	}
	for n := range 600 {
		k := n % 20
		obj := s.put("configmaps", configMap("a", strconv.Itoa(k), map[string]string{"in": "yes", "n": strconv.Itoa(n / 40)}, strconv.Itoa(n)))
		if n%3 != 0 {
			raw, _ := json.Marshal(obj)
			var cm corev1.ConfigMap
			if err := json.Unmarshal(raw, &cm); err != nil {
				t.Fatal(err)
			}
			c.ObserveWrite(client.Written{GVK: configMapKind, Object: &cm, JSON: raw})
			rv, _ := strconv.ParseUint(cm.ResourceVersion, 10, 64)
			own[k].Store(rv)
		}
		if n == 200 {
			s.cutWatches()
		}
	}
	cancel()
	readers.Wait()
	eventually(t, "the handler's picture", func() bool {
		rec.mu.Lock()
		defer rec.mu.Unlock()
		for k := range 20 {
			if cm, _ := rec.content["a/"+strconv.Itoa(k)].(*corev1.ConfigMap); cm == nil || cm.Data["data"] != strconv.Itoa(580+k) {
				return false
			}
		}
		return true
	})
	if len(rec.bad) > 0 {
		t.Error(rec.bad)
	}
}

func TestDeletionsOfWhatIsNotCachedAreNoConcern(t *testing.T) {
	s := newTestServer(t)
	c := startCache(t, s, Options{DefaultNamespaces: map[string]Config{"a": {}}}).(*stores)
	c.ObserveDelete(configMapKind, client.ObjectKey{Namespace: "a", Name: "x"}, "u") // no store yet
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); err != nil {
		t.Fatal(err)
	}
	c.ObserveDelete(configMapKind, client.ObjectKey{Namespace: "b", Name: "x"}, types.UID("u"))
	c.ObserveWrite(client.Written{GVK: configMapKind, Object: configMap("b", "x", nil, "")})
	if st := c.storeOf(configMapKind); len(st.ended) != 0 || st.size != 0 {
		t.Errorf("remembered: %v, %d objects", st.ended, st.size)
	}
}
