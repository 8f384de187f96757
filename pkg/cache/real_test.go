package cache_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest"
)

var gadgetKind = schema.GroupVersionKind{Group: "cache.operon.dev", Version: "v1", Kind: "Gadget"}

func TestOnARealAPIServer(t *testing.T) {
	if os.Getenv("OPERON") == "" {
		t.Skip("OPERON does not name the operon binary, which starts the API server")
	}
	env := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{gadgets()}}
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	cfg.QPS = -1
	t.Run("500 own updates are read at once", func(t *testing.T) { testOwnUpdates(t, cfg) })
	for how, opts := range map[string]cache.Options{
		"decoded":      {},
		"compact":      {DefaultCompact: ptr.To(true)},
		"watched over": {OnMutation: func(m cache.Mutation) { t.Error(m) }},
	} {
		t.Run("every verb is read at once in every form, "+how, func(t *testing.T) { testOwnVerbs(t, cfg, opts) })
	}
	t.Run("own writes under selectors and namespaces", func(t *testing.T) { testOwnWritesUnderSelectors(t, cfg) })
	t.Run("all forms open one watch", func(t *testing.T) { testOneWatch(t, cfg) })
	t.Run("unknown fields survive", func(t *testing.T) { testUnknownFields(t, cfg) })
	t.Run("a refused subject is named", func(t *testing.T) { testRefusedSubject(t, cfg) })
	t.Run("scaling and eviction are read at once", func(t *testing.T) { testSubresources(t, cfg) })
	t.Run("watches end with their users", func(t *testing.T) { testWatchesEnd(t, cfg) })
	t.Run("namespaces come and go", func(t *testing.T) { testNamespaces(t, cfg) })
	t.Run("namespaces end when they are gone", func(t *testing.T) { testEndsOfNamespaces(t, cfg) })
	t.Run("a late CRD is picked up within a second", func(t *testing.T) { testLateCRD(t, cfg) })
}

func gadgets() *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.cache.operon.dev"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gadgetKind.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &preserve,
				}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

// gadget is a Go type that knows less of Gadgets than the API server.
type gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              gadgetSpec `json:"spec,omitempty"`
}

type gadgetSpec struct {
	Size int `json:"size,omitempty"`
}

func (g *gadget) DeepCopyObject() runtime.Object {
	out := *g
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

type gadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []gadget `json:"items"`
}

func (l *gadgetList) DeepCopyObject() runtime.Object {
	out := &gadgetList{TypeMeta: l.TypeMeta, ListMeta: l.ListMeta}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*gadget))
	}
	return out
}

func testScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(s)
	s.AddKnownTypeWithName(gadgetKind, &gadget{})
	s.AddKnownTypeWithName(gadgetKind.GroupVersion().WithKind("GadgetList"), &gadgetList{})
	metav1.AddToGroupVersion(s, gadgetKind.GroupVersion())
	return s
}

// counter counts the watches that are asked for, by the path.
type counter struct {
	http.RoundTripper
	watches, lists, open atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	watch := r.URL.Query().Get("watch") != ""
	if watch {
		c.watches.Add(1)
	} else if r.Method == http.MethodGet {
		c.lists.Add(1)
	}
	resp, err := c.RoundTripper.RoundTrip(r)
	if watch && err == nil {
		c.open.Add(1)
		context.AfterFunc(r.Context(), func() { c.open.Add(-1) })
	}
	return resp, err
}

// cached starts a cache and a client that reads from it and writes to the API server.
func cached(t *testing.T, cfg *rest.Config, opts cache.Options) (cache.Cache, client.Client, *counter) {
	t.Helper()
	cfg = rest.CopyConfig(cfg)
	count := &counter{}
	cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { count.RoundTripper = rt; return count })
	opts.Scheme = testScheme()
	c, err := cache.New(cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w, err := client.New(cfg, client.Options{Scheme: opts.Scheme, HTTPClient: httpClient, Cache: &client.CacheOptions{Reader: c, Unstructured: true}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		httpClient.CloseIdleConnections()
	})
	if !c.WaitForCacheSync(t.Context()) {
		t.Fatal("not started")
	}
	return c, w, count
}

func testOwnUpdates(t *testing.T, cfg *rest.Config) {
	ctx := t.Context()
	c, w, _ := cached(t, cfg, cache.Options{})
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "own"}}
	if err := w.Create(ctx, cm); err != nil {
		t.Fatal(err)
	}
	stale, read := 0, time.Duration(0)
	for i := range 500 {
		cm.Data = map[string]string{"n": fmt.Sprint(i)}
		if err := w.Update(ctx, cm); err != nil {
			t.Fatal(err)
		}
		var got corev1.ConfigMap
		begun := time.Now()
		if err := w.Get(ctx, client.ObjectKeyFromObject(cm), &got); err != nil {
			t.Fatal(err)
		}
		if i > 0 { // the first read waits for the first list
			read += time.Since(begun)
		}
		if got.Data["n"] != fmt.Sprint(i) || got.ResourceVersion != cm.ResourceVersion {
			stale++
		}
	}
	t.Logf("%d of 500 reads were stale; a read took %v", stale, read/499)
	if stale > 0 {
		t.Errorf("%d of 500 reads were stale", stale)
	}
	if err := w.Delete(ctx, cm); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(cm), cm); !apierrors.IsNotFound(err) {
		t.Errorf("after Delete: %v", err)
	}
}

// reads are the views of one Gadget.
type reads struct {
	typed gadget
	full  unstructured.Unstructured
	meta  metav1.PartialObjectMetadata
}

func readAll(t *testing.T, c client.Reader, key client.ObjectKey) (*reads, error) {
	r := &reads{}
	r.full.SetGroupVersionKind(gadgetKind)
	r.meta.SetGroupVersionKind(gadgetKind)
	for _, obj := range []client.Object{&r.typed, &r.full, &r.meta} {
		if err := c.Get(t.Context(), key, obj); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func testOwnVerbs(t *testing.T, cfg *rest.Config, opts cache.Options) {
	ctx := t.Context()
	c, w, _ := cached(t, cfg, opts)
	key := client.ObjectKey{Namespace: "default", Name: "verbs"}
	if _, err := readAll(t, c, key); !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	version := ""
	expect := func(step, rv string, size int) {
		t.Helper()
		r, err := readAll(t, c, key)
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		have, _, _ := unstructured.NestedInt64(r.full.Object, "spec", "size")
		if r.typed.ResourceVersion != rv || r.full.GetResourceVersion() != rv || r.meta.ResourceVersion != rv || r.typed.Spec.Size != size || int(have) != size {
			t.Errorf("%s: want version %s size %d, have %s, %s, %s, sizes %d, %d", step, rv, size,
				r.typed.ResourceVersion, r.full.GetResourceVersion(), r.meta.ResourceVersion, r.typed.Spec.Size, have)
		}
		if rv == version {
			t.Errorf("%s: nothing was written", step)
		}
		version = rv
	}
	g := &gadget{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: gadgetSpec{Size: 1}}
	do := func(step string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	do("create", w.Create(ctx, g))
	expect("create", g.ResourceVersion, 1)
	g.Spec.Size = 2
	do("update", w.Update(ctx, g))
	expect("update", g.ResourceVersion, 2)
	do("patch", w.Patch(ctx, g, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"size":3,"color":"red"}}`))))
	expect("patch", g.ResourceVersion, 3)
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	m.SetGroupVersionKind(gadgetKind)
	do("patch metadata", w.Patch(ctx, m, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))))
	expect("patch metadata", m.ResourceVersion, 3)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gadgetKind)
	do("get", c.Get(ctx, key, u))
	if color, _, _ := unstructured.NestedString(u.Object, "spec", "color"); color != "red" || u.GetLabels()["a"] != "b" {
		t.Errorf("after a metadata patch: %v", u.Object)
	}
	_ = unstructured.SetNestedField(u.Object, int64(4), "spec", "size")
	do("update unstructured", w.Update(ctx, u))
	expect("update unstructured", u.GetResourceVersion(), 4)
	_ = unstructured.SetNestedField(u.Object, "fine", "status", "mood")
	do("status", w.Status().Update(ctx, u))
	expect("status", u.GetResourceVersion(), 4)

	ac := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(5)}}}
	ac.SetGroupVersionKind(gadgetKind)
	ac.SetNamespace(key.Namespace)
	ac.SetName(key.Name)
	do("apply", w.Apply(ctx, client.ApplyConfigurationFromUnstructured(ac), client.FieldOwner("test"), client.ForceOwnership))
	expect("apply", ac.GetResourceVersion(), 5)

	do("get", c.Get(ctx, key, g))
	g.Finalizers = []string{"example.com/hold"}
	do("hold", w.Update(ctx, g))
	do("delete", w.Delete(ctx, g))
	r, err := readAll(t, c, key)
	if err != nil || r.typed.DeletionTimestamp == nil {
		t.Errorf("after a delete that waits: %v", err)
	}
	g = r.typed.DeepCopyObject().(*gadget)
	g.Finalizers = nil
	do("let go", w.Update(ctx, g))
	if _, err := readAll(t, c, key); !apierrors.IsNotFound(err) {
		t.Errorf("after the last finalizer went: %v", err)
	}
	for i := range 5 {
		do("create", w.Create(ctx, &gadget{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: fmt.Sprint("many-", i), Labels: map[string]string{"many": "yes"}}}))
	}
	var l gadgetList
	if err := c.List(ctx, &l, client.MatchingLabels{"many": "yes"}); err != nil || len(l.Items) != 5 {
		t.Errorf("after 5 creates: %d, %v", len(l.Items), err)
	}
	do("delete all", w.DeleteAllOf(ctx, &gadget{}, client.InNamespace(key.Namespace), client.MatchingLabels{"many": "yes"}))
	if err := c.List(ctx, &l, client.MatchingLabels{"many": "yes"}); err != nil || len(l.Items) != 0 {
		t.Errorf("after DeleteAllOf: %d, %v", len(l.Items), err)
	}
	do("typed apply", w.Apply(ctx, corev1ac.ConfigMap("applied", "default").WithData(map[string]string{"a": "1"}), client.FieldOwner("test")))
	do("get applied", c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "applied"}, &corev1.ConfigMap{}))
	for i := range 50 {
		do("apply again", w.Apply(ctx, corev1ac.ConfigMap("applied", "default").WithData(map[string]string{"a": fmt.Sprint(i)}), client.FieldOwner("test")))
		var cm corev1.ConfigMap
		if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "applied"}, &cm); err != nil || cm.Data["a"] != fmt.Sprint(i) {
			t.Fatalf("after apply %d: %v %v", i, cm.Data, err)
		}
	}
}

func testOwnWritesUnderSelectors(t *testing.T, cfg *rest.Config) {
	ctx := t.Context()
	for _, ns := range []string{"here", "there", "elsewhere"} {
		direct, err := client.New(cfg, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := direct.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
			t.Fatal(err)
		}
	}
	c, w, _ := cached(t, cfg, cache.Options{
		DefaultNamespaces:    map[string]cache.Config{"here": {}, "there": {LabelSelector: labels.SelectorFromSet(labels.Set{"in": "yes"})}},
		DefaultLabelSelector: labels.Everything(),
		DefaultTransform: func(in any) (any, error) {
			if cm, ok := in.(*corev1.ConfigMap); ok {
				delete(cm.Data, "secret")
			}
			return in, nil
		},
	})
	list := func() int {
		var l corev1.ConfigMapList
		if err := c.List(ctx, &l, client.HasLabels{"in"}); err != nil {
			t.Fatal(err)
		}
		return len(l.Items)
	}
	if n := list(); n != 0 {
		t.Fatalf("%d at first", n)
	}
	for i := range 100 {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "there", Name: fmt.Sprint("x", i), Labels: map[string]string{"in": "yes"}}, Data: map[string]string{"secret": "s", "n": "1"}}
		if err := w.Create(ctx, cm); err != nil {
			t.Fatal(err)
		}
		var got corev1.ConfigMap
		if err := c.Get(ctx, client.ObjectKeyFromObject(cm), &got); err != nil || got.Data["secret"] != "" || got.ManagedFields != nil {
			t.Fatalf("after create: %v, %v", got, err)
		}
		cm.Labels["in"] = "no"
		if err := w.Update(ctx, cm); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cm), &got); !apierrors.IsNotFound(err) {
			t.Fatalf("after it left the selection: %v", err)
		}
		cm.Labels["in"] = "yes"
		if err := w.Update(ctx, cm); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cm), &got); err != nil || got.ResourceVersion != cm.ResourceVersion {
			t.Fatalf("after it came back: %v", err)
		}
		uid := cm.UID
		if err := w.Delete(ctx, cm); err != nil {
			t.Fatal(err)
		}
		cm.ResourceVersion, cm.UID = "", ""
		if err := w.Create(ctx, cm); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(cm), &got); err != nil || got.UID == uid || got.UID != cm.UID {
			t.Fatalf("after it was made again: %v", err)
		}
	}
	if n := list(); n != 100 {
		t.Errorf("%d at last", n)
	}
	if err := w.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "x", Labels: map[string]string{"in": "yes"}}}); err != nil {
		t.Fatal(err)
	}
	if n := list(); n != 100 {
		t.Errorf("%d with one of a namespace that is not cached", n)
	}
}

func testOneWatch(t *testing.T, cfg *rest.Config) {
	ctx := t.Context()
	c, _, count := cached(t, cfg, cache.Options{})
	for _, obj := range []client.Object{&unstructured.Unstructured{}, &gadget{}, &metav1.PartialObjectMetadata{}} {
		if _, ok := obj.(*gadget); !ok {
			obj.GetObjectKind().SetGroupVersionKind(gadgetKind)
		}
		if _, err := c.GetInformer(ctx, obj); err != nil {
			t.Fatal(err)
		}
	}
	if n := count.watches.Load(); n != 1 {
		t.Errorf("%d watches were opened", n)
	}
	// In the other order each reader asks for more than there is.
	for _, obj := range []client.Object{&metav1.PartialObjectMetadata{}, &corev1.Secret{}, &unstructured.Unstructured{}} {
		if _, ok := obj.(*corev1.Secret); !ok {
			obj.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		}
		if _, err := c.GetInformer(ctx, obj); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(time.Minute)
	for count.open.Load() != 2 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if n := count.open.Load(); n != 2 {
		t.Errorf("%d watches are open for two resources", n)
	}
}

func testUnknownFields(t *testing.T, cfg *rest.Config) {
	ctx := t.Context()
	c, w, _ := cached(t, cfg, cache.Options{})
	key := client.ObjectKey{Namespace: "default", Name: "unknown"}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1), "color": "blue"}}}
	u.SetGroupVersionKind(gadgetKind)
	u.SetNamespace(key.Namespace)
	u.SetName(key.Name)
	if err := w.Create(ctx, u); err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(t, c, key); err != nil {
		t.Fatal(err)
	}
	// A typed patch: its Go type cannot carry the color, the store must have it all the same.
	g := &gadget{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	for i := range 20 {
		if err := w.Patch(ctx, g, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"size":%d}}`, i+2))); err != nil {
			t.Fatal(err)
		}
		r, err := readAll(t, c, key)
		if err != nil {
			t.Fatal(err)
		}
		if color, _, _ := unstructured.NestedString(r.full.Object, "spec", "color"); color != "blue" || r.typed.Spec.Size != i+2 {
			t.Fatalf("after patch %d: %v, %v", i, r.full.Object, r.typed)
		}
	}
}

func testRefusedSubject(t *testing.T, cfg *rest.Config) {
	ctx := t.Context()
	limited := rest.CopyConfig(cfg)
	limited.Impersonate = rest.ImpersonationConfig{UserName: "limited"}
	admin, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, _, _ := cached(t, limited, cache.Options{})
	if _, err := c.GetInformer(ctx, &corev1.Secret{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	await(t, "the refusal", func() bool { return len(cache.WatchErrors(c)) > 0 })
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, err = c.GetInformer(short, &corev1.Secret{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `User "limited" cannot`) || !strings.Contains(err.Error(), `"secrets"`) {
		t.Errorf("GetInformer: %v", err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "limited"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list", "watch"}}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "limited"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "limited"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "limited"}},
	}
	for _, obj := range []client.Object{role, binding} {
		if err := admin.Create(ctx, obj); err != nil {
			t.Fatal(err)
		}
	}
	short, cancel = context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := c.GetInformer(short, &corev1.Secret{}); err != nil {
		t.Errorf("once it is allowed: %v", err)
	}
}
