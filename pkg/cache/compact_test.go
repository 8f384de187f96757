package cache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/pkg/client"
)

// widget is a Go type without protobuf of its own: what it embeds has it.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Size              int `json:"size,omitempty"`
}

func (w *widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func compactCache(t testing.TB, s *testServer, opts Options) Cache {
	opts.DefaultCompact = ptr.To(true)
	return startCache(t, s, opts)
}

func TestCompactObjectsAreReadInAllForms(t *testing.T) {
	ctx := t.Context()
	s := newTestServer(t)
	whole := s.put("configmaps", configMap("a", "one", map[string]string{"app": "x"}, "1"))
	whole["unknown"] = "kept"
	s.put("configmaps", whole)
	s.put("configmaps", configMap("b", "two", nil, "2"))
	for _, order := range [][]form{{formMetadata, formTyped, formFull}, {formFull, formTyped, formMetadata}, {formTyped, formMetadata}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			c := compactCache(t, s, Options{})
			for _, f := range order {
				obj := inForm(t, f, configMap("", "", nil, ""))
				key := client.ObjectKey{Namespace: "a", Name: "one"}
				if err := c.Get(ctx, key, obj); err != nil {
					t.Fatalf("%s: %v", f, err)
				}
				if obj.GetLabels()["app"] != "x" || obj.GetObjectKind().GroupVersionKind() != configMapKind || obj.GetResourceVersion() != "102" {
					t.Errorf("%s: %v", f, obj)
				}
				switch obj := obj.(type) {
				case *corev1.ConfigMap:
					if obj.Data["data"] != "1" {
						t.Errorf("data: %v", obj.Data)
					}
				case *unstructured.Unstructured:
					if obj.Object["unknown"] != "kept" {
						t.Errorf("a field that the Go type does not know is lost: %v", obj.Object)
					}
				}
				again := obj.DeepCopyObject().(client.Object)
				obj.GetLabels()["app"] = "changed"
				obj.SetLabels(obj.GetLabels())
				if err := c.Get(ctx, key, again); err != nil || again.GetLabels()["app"] != "x" {
					t.Errorf("%s: a reader's change shows: %v, %v", f, again.GetLabels(), err)
				}
			}
			if e := c.(*stores).storeOf(configMapKind).get(client.ObjectKey{Namespace: "a", Name: "one"}); !e.private() {
				t.Error("the object is held decoded")
			}
		})
	}
}

func TestCompactKindsAreFoundHandedOverAndWrittenAsOthers(t *testing.T) {
	ctx := t.Context()
	s := newTestServer(t)
	for i := range 50 {
		cm := configMap("a", fmt.Sprint(i), map[string]string{"n": fmt.Sprint(i % 10)}, fmt.Sprint(i))
		cm.OwnerReferences = []metav1.OwnerReference{{UID: "owner"}}
		s.put("configmaps", cm)
	}
	c := startCache(t, s, Options{ByObject: map[client.Object]ByObject{&corev1.ConfigMap{}: {Compact: ptr.To(true)}}})
	byData := func(o client.Object) []string { return []string{o.(*corev1.ConfigMap).Data["data"]} }
	if err := c.IndexField(ctx, &corev1.ConfigMap{}, "data", byData); err != nil {
		t.Fatal(err)
	}
	_, _, rec := useInformer(t, c, &corev1.ConfigMap{})
	if len(rec.content) != 50 {
		t.Errorf("the handler knows %d objects", len(rec.content))
	}
	for name, opts := range map[string][]client.ListOption{
		"label": {client.MatchingLabels{"n": "3"}},
		"field": {client.MatchingFields{"data": "3"}},
		"owner": {OwnedBy("owner"), client.InNamespace("a")},
	} {
		want := map[string]int{"label": 5, "field": 1, "owner": 50}[name]
		var l corev1.ConfigMapList
		if err := c.List(ctx, &l, opts...); err != nil || len(l.Items) != want {
			t.Errorf("%s: %d objects, %v", name, len(l.Items), err)
		}
		all, err := All[*corev1.ConfigMap](ctx, c, opts...)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(all); len(got) != want || got[0].Kind != "ConfigMap" || got[0].Data["data"] == "" {
			t.Errorf("%s: %d objects lent: %v", name, len(got), got)
		}
	}
	s.put("configmaps", configMap("a", "3", map[string]string{"n": "new"}, "3a"))
	eventually(t, "the update", func() bool { return rec.has("update a/3") })
	lent, err := Lend[*corev1.ConfigMap](ctx, c, client.ObjectKey{Namespace: "a", Name: "3"})
	if err != nil || lent.Data["data"] != "3a" {
		t.Errorf("Lend: %v, %v", lent, err)
	}
	own := lent.DeepCopy()
	own.Data["data"], own.ResourceVersion = "own", "100000"
	c.(*stores).ObserveWrite(client.Written{GVK: configMapKind, Object: own})
	var cm corev1.ConfigMap
	if err := c.Get(ctx, client.ObjectKeyFromObject(own), &cm); err != nil || cm.Data["data"] != "own" {
		t.Errorf("an own write: %v, %v", cm.Data, err)
	}
	if len(rec.bad) > 0 {
		t.Errorf("handler: %v", rec.bad)
	}
}

func TestCompactKeepsWhatATransformMadeOfEachForm(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	c := compactCache(t, s, Options{DefaultTransform: func(obj any) (any, error) {
		o := obj.(client.Object)
		o.SetAnnotations(map[string]string{"form": formOf(o).String()})
		return o, nil
	}})
	for f := range numForms {
		obj := inForm(t, f, configMap("", "", nil, ""))
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, obj); err != nil || obj.GetAnnotations()["form"] != f.String() {
			t.Errorf("%s: %v, %v", f, obj.GetAnnotations(), err)
		}
	}
}

// What is packed comes out as it went in, however unlike or large the objects are.
func TestPackingLosesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	pods := &resource{gvk: corev1.SchemeGroupVersion.WithKind("Pod"), goType: podType, namespaced: true}
	secrets := &resource{gvk: corev1.SchemeGroupVersion.WithKind("Secret"), goType: secretType, namespaced: true}
	widgets := &resource{gvk: widgetKind, goType: widgetType, namespaced: true}
	if !pods.inProtobuf() || widgets.inProtobuf() {
		t.Error("which types have protobuf is not seen")
	}
	for name, c := range map[string]struct {
		r    *resource
		make func(i int) client.Object
	}{
		"pods":  {pods, func(i int) client.Object { return benchPod(i) }},
		"noise": {secrets, func(i int) client.Object { return &corev1.Secret{Data: map[string][]byte{"k": noise(i * 100)}} }},
		"large": {secrets, func(i int) client.Object {
			return &corev1.Secret{Data: map[string][]byte{"k": noise(300 << 10), "l": bytes.Repeat([]byte("text "), 1<<17)}}
		}},
		"tiny":         {&resource{gvk: widgetKind, goType: widgetType}, func(int) client.Object { return &widget{} }},
		"JSON":         {widgets, func(i int) client.Object { return &widget{ObjectMeta: benchPod(i).ObjectMeta, Size: i} }},
		"unstructured": {pods, func(i int) client.Object { u, _ := toFull(pods, benchPod(i)); return u }},
		"metadata":     {pods, func(i int) client.Object { return &metav1.PartialObjectMetadata{ObjectMeta: benchPod(i).ObjectMeta} }},
	} {
		t.Run(name, func(t *testing.T) {
			p := &packer{}
			n := 120
			if name == "large" {
				n = 4
			}
			var known *entry
			for i := range n {
				obj := c.make(i)
				obj.GetObjectKind().SetGroupVersionKind(c.r.gvk)
				want := obj.DeepCopyObject()
				meta, err := metaOf(obj)
				if err != nil {
					t.Fatal(err)
				}
				e := newEntry(obj, meta, formOf(obj))
				p.pack(c.r, e, known)
				e.settle()
				got, err := e.view(c.r, e.form)
				if err != nil {
					t.Fatal(err)
				}
				if !e.private() || !jsonEqual(t, want, got) {
					t.Fatalf("%d: private %t: %.300v, want %.300v", i, e.private(), got, want)
				}
				known = e
			}
			if len(p.learned) > maxLearned || len(p.strange) > maxLearned {
				t.Errorf("a dictionary of %d bytes, %d more to come", len(p.learned), len(p.strange))
			}
		})
	}
}

func TestAnObjectThatCannotBeEncodedStaysDecoded(t *testing.T) {
	r := &resource{gvk: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, goType: podType}
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x"}, "bad": make(chan int)}}
	e := newEntry(u, &metav1.ObjectMeta{Name: "x"}, formFull)
	(&packer{}).pack(r, e, nil)
	e.settle()
	if got, err := e.view(r, formFull); err != nil || got != client.Object(u) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestACompactPodTakesLittle(t *testing.T) {
	before := heap()
	c := filledPods(t, 3000, Options{DefaultCompact: ptr.To(true)})
	used := (heap() - before) / 3000
	if used > 2000 {
		t.Errorf("%d bytes for each pod", used)
	}
	pod, err := Lend[*corev1.Pod](t.Context(), c, client.ObjectKeyFromObject(benchPod(7)))
	if err != nil || !strings.HasPrefix(pod.Name, "app-7-") {
		t.Errorf("%v, %v", pod, err)
	}
}
