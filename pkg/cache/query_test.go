package cache

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/client"
)

func requirements(t testing.TB, selector string) labels.Requirements {
	sel, err := labels.Parse(selector)
	if err != nil {
		t.Fatal(err)
	}
	reqs, _ := sel.Requirements()
	return reqs
}

// listCache is a cache with some ConfigMaps whose names tell what they are.
func listCache(t *testing.T, opts Options) (*testServer, Cache) {
	s := newTestServer(t)
	for _, ns := range []string{"a", "b"} {
		for i, color := range []string{"red", "green", "blue", ""} {
			cm := configMap(ns, fmt.Sprintf("%s%d", color, i), nil, color)
			if color != "" {
				cm.Labels = map[string]string{"color": color, "rank": fmt.Sprint(i)}
				cm.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: types.UID("owner-of-" + color)}}
			}
			s.put("configmaps", cm)
		}
	}
	return s, startCache(t, s, opts)
}

func TestListFindsWhatIsAskedFor(t *testing.T) {
	_, c := listCache(t, Options{})
	ctx := t.Context()
	byData := func(o client.Object) []string { return []string{o.(*corev1.ConfigMap).Data["data"]} }
	if err := c.IndexField(ctx, &corev1.ConfigMap{}, "data", byData); err != nil {
		t.Fatal(err)
	}
	byBoth := func(o client.Object) []string {
		return []string{o.(*corev1.ConfigMap).Data["data"], "any", "any"}
	}
	if err := c.IndexField(ctx, &corev1.ConfigMap{}, "both", byBoth); err != nil {
		t.Fatal(err)
	}
	label := func(sel string) client.ListOption {
		s, err := labels.Parse(sel)
		if err != nil {
			t.Fatal(err)
		}
		return client.MatchingLabelsSelector{Selector: s}
	}
	field := func(sel string) client.ListOption {
		s, err := fields.ParseSelector(sel)
		if err != nil {
			t.Fatal(err)
		}
		return client.MatchingFieldsSelector{Selector: s}
	}
	tests := []struct {
		name string
		opts []client.ListOption
		want string
	}{
		{"all", nil, "a/3 a/blue2 a/green1 a/red0 b/3 b/blue2 b/green1 b/red0"},
		{"a namespace", []client.ListOption{client.InNamespace("a")}, "a/3 a/blue2 a/green1 a/red0"},
		{"no such namespace", []client.ListOption{client.InNamespace("c")}, ""},
		{"a label", []client.ListOption{label("color=red")}, "a/red0 b/red0"},
		{"a label in a namespace", []client.ListOption{label("color=red"), client.InNamespace("b")}, "b/red0"},
		{"one of", []client.ListOption{label("color in (red,blue,pink)")}, "a/blue2 a/red0 b/blue2 b/red0"},
		{"none of", []client.ListOption{label("color notin (red,blue)")}, "a/3 a/green1 b/3 b/green1"},
		{"exists", []client.ListOption{label("color"), client.InNamespace("a")}, "a/blue2 a/green1 a/red0"},
		{"does not exist", []client.ListOption{label("!color")}, "a/3 b/3"},
		{"not", []client.ListOption{label("color!=red"), client.InNamespace("a")}, "a/3 a/blue2 a/green1"},
		{"greater", []client.ListOption{label("rank>0"), client.InNamespace("a")}, "a/blue2 a/green1"},
		{"two labels", []client.ListOption{label("color=green,rank=1")}, "a/green1 b/green1"},
		{"contradiction", []client.ListOption{label("color=green,rank=2")}, ""},
		{"no such label", []client.ListOption{label("smell=good")}, ""},
		{"nothing", []client.ListOption{client.MatchingLabelsSelector{Selector: labels.Nothing()}}, ""},
		{"no field", []client.ListOption{client.MatchingFieldsSelector{}}, ""},
		{"no field, and an owner", []client.ListOption{client.MatchingFieldsSelector{Selector: fields.Nothing()}, OwnedBy("owner-of-red")}, ""},
		{"no such key exists", []client.ListOption{label("smell")}, ""},
		{"owner", []client.ListOption{OwnedBy("owner-of-red")}, "a/red0 b/red0"},
		{"owner and field", []client.ListOption{field("metadata.namespace=a"), OwnedBy("owner-of-red")}, "a/red0"},
		{"no such owner", []client.ListOption{OwnedBy("nobody")}, ""},
		{"field", []client.ListOption{client.MatchingFields{"data": "blue"}}, "a/blue2 b/blue2"},
		{"field in a namespace", []client.ListOption{client.MatchingFields{"data": "blue"}, client.InNamespace("a")}, "a/blue2"},
		{"not field", []client.ListOption{field("data!=blue"), client.InNamespace("a")}, "a/3 a/green1 a/red0"},
		{"empty field", []client.ListOption{client.MatchingFields{"data": ""}}, "a/3 b/3"},
		{"two fields", []client.ListOption{field("data=blue,both=any")}, "a/blue2 b/blue2"},
		{"several values", []client.ListOption{client.MatchingFields{"both": "any"}, client.InNamespace("b")}, "b/3 b/blue2 b/green1 b/red0"},
		{"name", []client.ListOption{field("metadata.name=red0")}, "a/red0 b/red0"},
		{"not name", []client.ListOption{field("metadata.name!=red0"), client.InNamespace("a")}, "a/3 a/blue2 a/green1"},
		{"name and namespace", []client.ListOption{field("metadata.name=red0,metadata.namespace=b")}, "b/red0"},
		{"not namespace", []client.ListOption{field("metadata.namespace!=b"), label("color")}, "a/blue2 a/green1 a/red0"},
		{"two namespaces", []client.ListOption{field("metadata.namespace=b"), client.InNamespace("a")}, ""},
		// controller-runtime's #612: field selectors that only know one =.
		{"two not", []client.ListOption{field("data!=blue,data!=red,both=any"), client.InNamespace("a")}, "a/3 a/green1"},
		{"not one of several values", []client.ListOption{field("both!=any")}, ""},
		{"field in", []client.ListOption{FieldIn("data", "blue", "red", "pink", "red")}, "a/blue2 a/red0 b/blue2 b/red0"},
		{"field in, several values each", []client.ListOption{FieldIn("both", "blue", "any")}, "a/3 a/blue2 a/green1 a/red0 b/3 b/blue2 b/green1 b/red0"},
		{"field in and field in", []client.ListOption{FieldIn("data", "blue", "red"), FieldIn("both", "red", "green"), client.InNamespace("a")}, "a/red0"},
		{"field in and not", []client.ListOption{field("data!=red"), FieldIn("data", "blue", "red"), label("rank")}, "a/blue2 b/blue2"},
		{"field in nothing", []client.ListOption{FieldIn("data")}, ""},
		{"field in the empty value", []client.ListOption{FieldIn("data", "")}, "a/3 b/3"},
		{"field not in", []client.ListOption{FieldNotIn("data", "blue", "red", ""), OwnedBy("owner-of-green")}, "a/green1 b/green1"},
		{"field in, not indexed so", []client.ListOption{FieldIn("data", "a,b", `c\`, "d=e")}, ""},
		{"names", []client.ListOption{FieldIn("metadata.name", "red0", "3", "none"), client.InNamespace("b")}, "b/3 b/red0"},
		{"names in all namespaces", []client.ListOption{FieldIn("metadata.name", "red0", "3")}, "a/3 a/red0 b/3 b/red0"},
		{"not names", []client.ListOption{FieldNotIn("metadata.name", "red0", "3", "blue2")}, "a/green1 b/green1"},
		{"namespaces", []client.ListOption{FieldIn("metadata.namespace", "b", "c"), label("color=red")}, "b/red0"},
		{"namespaces and a namespace", []client.ListOption{FieldIn("metadata.namespace", "b", "c"), client.InNamespace("a")}, ""},
		{"all these namespaces", []client.ListOption{FieldIn("metadata.namespace", "b", "c")}, "b/3 b/blue2 b/green1 b/red0"},
		{"owners", []client.ListOption{FieldIn("metadata.ownerReferences.uid", "owner-of-red", "owner-of-blue"), client.InNamespace("a")}, "a/blue2 a/red0"},
		{"field and label", []client.ListOption{client.MatchingFields{"data": "blue"}, label("rank=2,color")}, "a/blue2 b/blue2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var l corev1.ConfigMapList
			if err := c.List(ctx, &l, test.opts...); err != nil {
				t.Fatal(err)
			}
			if got := names(&l); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			n := 0
			all, err := All[*corev1.ConfigMap](ctx, c, test.opts...)
			if err != nil {
				t.Fatal(err)
			}
			for range all {
				n++
			}
			if n != len(l.Items) {
				t.Errorf("All: %d, List: %d", n, len(l.Items))
			}
		})
	}
	t.Run("limit", func(t *testing.T) {
		var l corev1.ConfigMapList
		if err := c.List(ctx, &l, client.Limit(3)); err != nil || len(l.Items) != 3 {
			t.Errorf("%d items, %v", len(l.Items), err)
		}
		if err := c.List(ctx, &corev1.ConfigMapList{}, client.Limit(3), client.Continue(l.Continue)); l.Continue != "continue-not-supported" || err == nil {
			t.Errorf("a list in pieces can be gone on with: continue %q, %v", l.Continue, err)
		}
	})
	t.Run("errors", func(t *testing.T) {
		for what, opt := range map[string]client.ListOption{
			`field "smell" has no index in the cache: add one with IndexField`: client.MatchingFields{"smell": "good"},
			"the cache cannot continue a list":                                 client.Continue("x"),
			"knows no operator":                                                client.MatchingFieldsSelector{Selector: oddSelector{fields.OneTermEqualSelector("data", "x")}},
		} {
			err := c.List(ctx, &corev1.ConfigMapList{}, opt)
			if err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("want %q, have %v", what, err)
			}
		}
		if err := c.IndexField(ctx, &corev1.ConfigMap{}, "data", byData); err == nil {
			t.Error("a second index of the same name")
		}
	})
}

// oddSelector asks for an operation that field selectors do not have.
type oddSelector struct{ fields.Selector }

func (o oddSelector) Requirements() fields.Requirements {
	reqs := o.Selector.Requirements()
	reqs[0].Operator = selection.GreaterThan
	return reqs
}

func TestIndexesFollowTheObjects(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	if err := b.s.addField(fieldDef{"data", formTyped, func(o client.Object) []string { return []string{o.(*corev1.ConfigMap).Data["data"]} }}); err != nil {
		t.Fatal(err)
	}
	count := func(sel string) int {
		found, err := b.s.find(query{labels: requirements(t, sel)})
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	for i := range 50 {
		b.watch(thing(fmt.Sprint(i), fmt.Sprint("u", i), fmt.Sprint(100+i), "all", fmt.Sprint("mod", i%5)))
	}
	if count("all") != 50 || count("mod3=yes") != 10 {
		t.Errorf("%d, %d", count("all"), count("mod3=yes"))
	}
	for i := range 50 {
		b.watch(thing(fmt.Sprint(i), fmt.Sprint("u", i), fmt.Sprint(200+i), "all", fmt.Sprint("mod", i%2)))
	}
	if count("all") != 50 || count("mod3") != 0 || count("mod1=yes") != 25 || len(b.s.indexes.labels) != 3 {
		t.Errorf("%d, %d, %d, %d keys", count("all"), count("mod3"), count("mod1=yes"), len(b.s.indexes.labels))
	}
	for i := range 50 {
		b.end(thing(fmt.Sprint(i), fmt.Sprint("u", i), fmt.Sprint(300+i)))
	}
	if n := len(b.s.indexes.labels); n != 0 || b.s.size != 0 || len(b.s.namespaces) != 0 {
		t.Errorf("%d label keys, %d objects, %d namespaces remain", n, b.s.size, len(b.s.namespaces))
	}
	for _, ix := range b.s.indexes.fields["data"] {
		if ix != nil && len(ix.postings) != 0 {
			t.Errorf("%d values remain", len(ix.postings))
		}
	}
}

func TestAnIndexGetsTheFormItWasAskedForAndAnswersAll(t *testing.T) {
	s, c := listCache(t, Options{})
	ctx := t.Context()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	if err := c.IndexField(ctx, u, "data.data", func(o client.Object) []string {
		v, _, _ := unstructured.NestedString(o.(*unstructured.Unstructured).Object, "data", "data")
		return []string{v}
	}); err != nil {
		t.Fatal(err)
	}
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	i, err := c.GetInformer(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.AddIndexers(toolscache.Indexers{"initial": func(o any) ([]string, error) {
		return []string{o.(*metav1.PartialObjectMetadata).Name[:1]}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	s.put("configmaps", configMap("a", "reed", nil, "red"))
	eventually(t, "the last object", func() bool {
		return c.Get(ctx, client.ObjectKey{Namespace: "a", Name: "reed"}, &corev1.ConfigMap{}) == nil
	})
	meta, full := &metav1.PartialObjectMetadataList{}, &unstructured.UnstructuredList{}
	meta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	full.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	for _, opt := range []client.ListOption{client.MatchingFields{"data.data": "red"}, client.MatchingFields{"initial": "r"}} {
		for _, l := range []client.ObjectList{meta, full, &corev1.ConfigMapList{}} {
			if err := c.List(ctx, l, opt); err != nil {
				t.Fatal(err)
			}
			n := 0
			switch l := l.(type) {
			case *metav1.PartialObjectMetadataList:
				n = len(l.Items)
			case *unstructured.UnstructuredList:
				n = len(l.Items)
			case *corev1.ConfigMapList:
				n = len(l.Items)
			}
			if n != 3 {
				t.Errorf("%T by %v: %d items", l, opt, n)
			}
		}
	}
	if now, _ := s.openWatches(); now > 1 {
		t.Errorf("%d watches", now)
	}
}

func TestACopyIsTheReadersOwn(t *testing.T) {
	_, c := listCache(t, Options{})
	ctx := t.Context()
	key := client.ObjectKey{Namespace: "a", Name: "red0"}
	var cm corev1.ConfigMap
	var l corev1.ConfigMapList
	if err := c.Get(ctx, key, &cm); err != nil {
		t.Fatal(err)
	}
	if err := c.List(ctx, &l); err != nil {
		t.Fatal(err)
	}
	cm.Data["data"] = "changed"
	for i := range l.Items {
		l.Items[i].Data["data"] = "changed"
	}
	lent, err := Lend[*corev1.ConfigMap](ctx, c, key)
	if err != nil || lent.Data["data"] != "red" || lent.Labels["color"] != "red" {
		t.Errorf("the cache has %v, %v", lent, err)
	}
	again, err := Lend[*corev1.ConfigMap](ctx, c, key)
	if err != nil || again != lent {
		t.Error("a loan is a copy")
	}
	yes := true
	if err := c.Get(ctx, key, &cm, &client.GetOptions{UnsafeDisableDeepCopy: &yes}); err != nil {
		t.Fatal(err)
	}
	if len(cm.Data) != len(lent.Data) || fmt.Sprintf("%p", cm.Data) != fmt.Sprintf("%p", lent.Data) {
		t.Error("UnsafeDisableDeepCopy made a copy")
	}
	if _, err := Lend[*unstructured.Unstructured](ctx, c, key); err == nil {
		t.Error("a loan of an unknown resource")
	}
}

// Types are copied by the method that is generated for them, and not by one that they have by the accident of embedding.
func TestWhichTypesAreCopiedInPlace(t *testing.T) {
	if !deepCopyIntoOf(configMapType).IsValid() {
		t.Error("a generated type is copied twice")
	}
	if deepCopyIntoOf(widgetType).IsValid() {
		t.Error("the method of what a type embeds is taken for its own")
	}
	r := &resource{goType: widgetType}
	from, to := &widget{Size: 3}, &widget{}
	from.Labels = map[string]string{"a": "b"}
	if err := copyInto(r, from, to, false); err != nil || to.Size != 3 {
		t.Errorf("%v, %v", to, err)
	}
	if to.Labels["a"] = "c"; from.Labels["a"] != "b" {
		t.Error("the copy shares a map")
	}
}
