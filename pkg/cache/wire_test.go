package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/client"
)

// startCache starts a cache of a server, which ends with the test.
func startCache(t testing.TB, s *testServer, opts Options) Cache {
	t.Helper()
	opts.Mapper = testMapper()
	c, err := New(s.config(), opts)
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	return c
}

func run(t testing.TB, c Cache) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	<-c.(*stores).crew.started.Done()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Start: %v", err)
		}
		c.(*stores).options.HTTPClient.CloseIdleConnections()
	})
}

func configMap(namespace, name string, set map[string]string, data string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: set},
		Data:       map[string]string{"data": data},
	}
}

// eventually awaits a condition that events bring about.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after a minute", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// recorder is a handler that keeps what it is told, and its picture of the content.
type recorder struct {
	mu      sync.Mutex
	events  []string
	content map[string]client.Object
	bad     []string
	// completes expects a version to be told again when more of it is known.
	completes bool
}

func newRecorder() *recorder { return &recorder{content: map[string]client.Object{}} }

func (r *recorder) OnAdd(obj any, initial bool) {
	o := obj.(client.Object)
	r.mu.Lock()
	defer r.mu.Unlock()
	key := o.GetNamespace() + "/" + o.GetName()
	if r.content[key] != nil {
		r.bad = append(r.bad, "added twice: "+key)
	}
	r.content[key] = o
	r.events = append(r.events, fmt.Sprintf("add %s %t", key, initial))
}

func (r *recorder) OnUpdate(old, now any) {
	o, n := old.(client.Object), now.(client.Object)
	r.mu.Lock()
	defer r.mu.Unlock()
	key := n.GetNamespace() + "/" + n.GetName()
	if have := r.content[key]; have == nil || have.GetResourceVersion() != o.GetResourceVersion() {
		r.bad = append(r.bad, "update of something else: "+key)
	}
	if o.GetResourceVersion() == n.GetResourceVersion() && !r.completes {
		r.bad = append(r.bad, "update that changes nothing: "+key)
	}
	if o.GetUID() != n.GetUID() {
		r.bad = append(r.bad, "update to another object: "+key)
	}
	r.content[key] = n
	r.events = append(r.events, "update "+key)
}

func (r *recorder) OnDelete(obj any) {
	if d, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = d.Obj
	}
	o := obj.(client.Object)
	r.mu.Lock()
	defer r.mu.Unlock()
	key := o.GetNamespace() + "/" + o.GetName()
	if r.content[key] == nil {
		r.bad = append(r.bad, "deleted what is not there: "+key)
	}
	delete(r.content, key)
	r.events = append(r.events, "delete "+key)
}

func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.events...)
}

func (r *recorder) has(event string) bool {
	for _, e := range r.all() {
		if e == event {
			return true
		}
	}
	return false
}

func TestWatchedObjectsAreReadAndHandedOver(t *testing.T) {
	for _, stream := range []bool{true, false} {
		t.Run(fmt.Sprintf("streaming lists %t", stream), func(t *testing.T) {
			ctx := t.Context()
			s := newTestServer(t)
			s.stream = stream
			s.put("configmaps", configMap("a", "one", nil, "1"))
			c := startCache(t, s, Options{})
			_, _, rec := useInformer(t, c, &corev1.ConfigMap{})
			if got := strings.Join(rec.all(), ","); got != "add a/one true" {
				t.Fatalf("at first: %s", got)
			}
			s.put("configmaps", configMap("a", "two", nil, "2"))
			s.put("configmaps", configMap("a", "one", nil, "1a"))
			s.remove("configmaps", "a", "two")
			eventually(t, "delete", func() bool { return rec.has("delete a/two") })
			if got := strings.Join(rec.all(), ","); got != "add a/one true,add a/two false,update a/one,delete a/two" {
				t.Errorf("events: %s", got)
			}
			cm := &corev1.ConfigMap{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: "a", Name: "one"}, cm); err != nil || cm.Data["data"] != "1a" || cm.Kind != "ConfigMap" {
				t.Errorf("Get: %v, %v", cm, err)
			}
			err := c.Get(ctx, client.ObjectKey{Namespace: "a", Name: "two"}, cm)
			if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `ConfigMap "two" not found`) {
				t.Errorf("Get of what was deleted: %v", err)
			}
			if n := s.count("resourceVersion=0"); n != 0 {
				t.Errorf("%d requests allowed a stale answer", n)
			}
		})
	}
}

func TestAWatchSurvivesCutsAndCompaction(t *testing.T) {
	ctx := t.Context()
	s := newTestServer(t)
	for i := range 10 {
		s.put("configmaps", configMap("a", fmt.Sprint(i), nil, "0"))
	}
	c := startCache(t, s, Options{})
	i, err := c.GetInformer(ctx, &corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	rec := newRecorder()
	if _, err := i.AddEventHandler(rec); err != nil {
		t.Fatal(err)
	}
	for round := range 4 {
		if round%2 == 0 {
			s.cutWatches()
		} else {
			s.compact()
		}
		s.remove("configmaps", "a", fmt.Sprint(round))
		s.put("configmaps", configMap("a", fmt.Sprint(9-round%3), nil, fmt.Sprint(round)))
		s.put("configmaps", configMap("a", fmt.Sprintf("new-%d", round), nil, fmt.Sprint(round)))
		eventually(t, "the round's last write", func() bool {
			var cm corev1.ConfigMap
			return c.Get(ctx, client.ObjectKey{Namespace: "a", Name: fmt.Sprintf("new-%d", round)}, &cm) == nil
		})
	}
	var list corev1.ConfigMapList
	if err := c.List(ctx, &list); err != nil || len(list.Items) != 10 {
		t.Errorf("List: %d items, %v", len(list.Items), err)
	}
	eventually(t, "the handler's picture", func() bool {
		rec.mu.Lock()
		defer rec.mu.Unlock()
		return len(rec.content) == 10
	})
	if rec.bad != nil {
		t.Errorf("handler: %v", rec.bad)
	}
}

// controller-runtime's #977 and #1660: an informer, a watch and a copy of all objects for each form.
func TestReadersInAllFormsShareOneWatch(t *testing.T) {
	ctx := t.Context()
	s := newTestServer(t)
	w := configMap("a", "one", map[string]string{"app": "x"}, "1")
	obj := s.put("configmaps", w)
	c := startCache(t, s, Options{})
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	key := client.ObjectKey{Namespace: "a", Name: "one"}
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(kind)
	if err := c.Get(ctx, key, m); err != nil || m.Labels["app"] != "x" || m.Kind != "ConfigMap" {
		t.Fatalf("metadata: %v, %v", m, err)
	}
	var cm corev1.ConfigMap
	if err := c.Get(ctx, key, &cm); err != nil || cm.Data["data"] != "1" {
		t.Fatalf("typed: %v, %v", cm, err)
	}
	obj["unknown"] = map[string]any{"to": "the Go type"}
	s.put("configmaps", obj)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	if err := c.Get(ctx, key, u); err != nil {
		t.Fatal(err)
	}
	if v, _, _ := unstructured.NestedString(u.Object, "unknown", "to"); v != "the Go type" {
		t.Errorf("unstructured: the unknown field is lost: %v", u.Object)
	}
	for _, obj := range []client.Object{m, &cm, u} {
		if err := c.Get(ctx, key, obj); err != nil {
			t.Fatal(err)
		}
	}
	if m.ResourceVersion != cm.ResourceVersion || cm.ResourceVersion != u.GetResourceVersion() {
		t.Errorf("the forms are of versions %s, %s and %s", m.ResourceVersion, cm.ResourceVersion, u.GetResourceVersion())
	}
	if now, most := s.openWatches(); most > 2 {
		t.Errorf("%d watches are open, %d were at once", now, most)
	}
	eventually(t, "one watch", func() bool { now, _ := s.openWatches(); return now == 1 })

	before := s.count("watch ")
	if err := c.List(ctx, &corev1.ConfigMapList{}); err != nil {
		t.Fatal(err)
	}
	if n := s.count("watch ") - before; n != 0 {
		t.Errorf("a further reader opened %d watches", n)
	}
}

// Texts as controller-runtime v0.25.2 has them: operators' tests compare them.
func TestACachedReadOfNothingNamesTheKind(t *testing.T) {
	c := startCache(t, newTestServer(t), Options{})
	widget, metadata := &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}
	widget.SetGroupVersionKind(widgetKind)
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	for _, tc := range []struct {
		obj  client.Object
		want string
	}{
		{&corev1.ConfigMap{}, `ConfigMap "absent" not found`},
		{metadata, `ConfigMap "absent" not found`},
		{widget, `Widget.example.com "absent" not found`},
	} {
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "absent"}, tc.obj)
		if !apierrors.IsNotFound(err) || err.Error() != tc.want {
			t.Errorf("%T: %v, want %s", tc.obj, err, tc.want)
		}
	}
}

// controller-runtime's #1653: a denial that looks like a time-out.
func TestAForbiddenResourceHoldsUpNobodyAndSaysWhy(t *testing.T) {
	s := newTestServer(t)
	s.forbid["secrets"] = true
	s.put("configmaps", configMap("a", "one", nil, "1"))
	var mu sync.Mutex
	handled := 0
	c := startCache(t, s, Options{DefaultWatchErrorHandler: func(context.Context, *toolscache.Reflector, error) {
		mu.Lock()
		defer mu.Unlock()
		handled++
	}})
	if _, err := c.GetInformer(t.Context(), &corev1.Secret{}, BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the refusal", func() bool { return len(WatchErrors(c)) > 0 })
	eventually(t, "the call of DefaultWatchErrorHandler", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return handled > 0
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := c.GetInformer(ctx, &corev1.Secret{})
	if !apierrors.IsForbidden(err) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("GetInformer: %v", err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, &corev1.ConfigMap{}); err != nil {
		t.Errorf("another resource: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if c.WaitForCacheSync(ctx) {
		t.Error("WaitForCacheSync says that all is there")
	}
	faults := WatchErrors(c)
	if len(faults) != 1 || faults[0].Subject != "system:serviceaccount:ops:robot" || faults[0].Resource.Resource != "secrets" || faults[0].Verb == "" || !faults[0].Forbidden() {
		t.Errorf("faults: %v", faults)
	}
	var fault *WatchError
	if !errors.As(err, &fault) || fault.Subject == "" {
		t.Errorf("the error does not say who was refused: %v", err)
	}
}

func TestAResourceIsPickedUpOnceItIsAllowed(t *testing.T) {
	s := newTestServer(t)
	s.forbid["secrets"] = true
	c := startCache(t, s, Options{})
	i, err := c.GetInformer(t.Context(), &corev1.Secret{}, BlockUntilSynced(false))
	if err != nil || i.HasSynced() {
		t.Fatalf("GetInformer: %v", err)
	}
	eventually(t, "the refusal", func() bool { return s.count("list /api/v1/secrets") > 0 })
	s.mu.Lock()
	s.forbid["secrets"] = false
	s.mu.Unlock()
	select {
	case <-i.HasSyncedChecker().Done():
	case <-time.After(time.Minute):
		t.Fatal("not picked up")
	}
}

func TestAFeedThatIsPutOffComesAgainSoon(t *testing.T) {
	for _, obj := range []client.Object{&corev1.ConfigMap{}, &metav1.PartialObjectMetadata{}, &unstructured.Unstructured{}} {
		t.Run(formOf(obj).String(), func(t *testing.T) {
			obj.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			s := newTestServer(t)
			s.putOff = 3
			c := startCache(t, s, Options{})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // half of what the server asks for
			defer cancel()
			if _, err := c.GetInformer(ctx, obj); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestAServerThatComesBackIsFollowedAgain(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	c := startCache(t, s, Options{})
	var cm corev1.ConfigMap
	key := client.ObjectKey{Namespace: "a", Name: "one"}
	if err := c.Get(t.Context(), key, &cm); err != nil {
		t.Fatal(err)
	}
	setDown := func(down bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.down = down
	}
	setDown(true)
	s.cutWatches()
	before := s.count("configmaps")
	eventually(t, "a request in vain", func() bool { return s.count("configmaps") > before })
	s.put("configmaps", configMap("a", "one", nil, "2"))
	s.put("configmaps", configMap("a", "two", nil, "2"))
	if err := c.Get(t.Context(), key, &cm); err != nil || cm.Data["data"] != "1" {
		t.Errorf("while it is down: %v, %v", cm.Data, err)
	}
	setDown(false)
	eventually(t, "what happened meanwhile", func() bool {
		err := c.Get(t.Context(), key, &cm)
		return err == nil && cm.Data["data"] == "2" && c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "two"}, &cm) == nil
	})
}

func TestNamespacesHaveFeedsOfTheirOwn(t *testing.T) {
	ctx := t.Context()
	s := newTestServer(t)
	for _, ns := range []string{"a", "b", "c", "d"} {
		s.put("configmaps", configMap(ns, "plain", nil, ns))
		s.put("configmaps", configMap(ns, "marked", map[string]string{"in": "yes"}, ns))
	}
	list := func(c Cache, opts ...client.ListOption) string {
		t.Helper()
		var l corev1.ConfigMapList
		if err := c.List(ctx, &l, opts...); err != nil {
			return err.Error()
		}
		return names(&l)
	}
	t.Run("some", func(t *testing.T) {
		c := startCache(t, s, Options{DefaultNamespaces: map[string]Config{"a": {}, "b": {LabelSelector: labels.SelectorFromSet(labels.Set{"in": "yes"})}}})
		if got := list(c); got != "a/marked a/plain b/marked" {
			t.Errorf("all: %s", got)
		}
		if got := list(c, client.InNamespace("b")); got != "b/marked" {
			t.Errorf("in b: %s", got)
		}
		if got := list(c, client.InNamespace("c")); !strings.Contains(got, `does not hold namespace "c"`) {
			t.Errorf("in c: %s", got)
		}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "c", Name: "plain"}, &corev1.ConfigMap{}); err == nil || apierrors.IsNotFound(err) {
			t.Errorf("Get in c: %v", err)
		}
	})
	t.Run("the rest", func(t *testing.T) {
		c := startCache(t, s, Options{ByObject: map[client.Object]ByObject{&corev1.ConfigMap{}: {
			Namespaces: map[string]Config{"a": {LabelSelector: labels.Everything()}, "b": {FieldSelector: fields.OneTermEqualSelector("metadata.name", "plain")}, AllNamespaces: {}},
			Label:      labels.SelectorFromSet(labels.Set{"in": "yes"}),
		}}})
		if got := list(c); got != "a/marked a/plain c/marked d/marked" {
			t.Errorf("all: %s", got)
		}
		s.put("configmaps", configMap("d", "later", map[string]string{"in": "yes"}, ""))
		eventually(t, "an object of the rest", func() bool { return list(c, client.InNamespace("d")) == "d/later d/marked" })
	})
}

func TestReadsBeforeTheStart(t *testing.T) {
	s := newTestServer(t)
	c, err := New(s.config(), Options{Mapper: testMapper()})
	if err != nil {
		t.Fatal(err)
	}
	var notStarted *ErrCacheNotStarted
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "b"}, &corev1.ConfigMap{}); !errors.As(err, &notStarted) {
		t.Errorf("Get: %v", err)
	}
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); !errors.As(err, &notStarted) {
		t.Errorf("List: %v", err)
	}
	i, err := c.GetInformer(t.Context(), &corev1.ConfigMap{})
	if err != nil || i.HasSynced() {
		t.Fatalf("GetInformer: %v", err)
	}
	rec := newRecorder()
	reg, err := i.AddEventHandler(rec)
	if err != nil {
		t.Fatal(err)
	}
	s.put("configmaps", configMap("a", "one", nil, "1"))
	run(t, c)
	if !c.WaitForCacheSync(t.Context()) {
		t.Error("WaitForCacheSync")
	}
	<-reg.HasSyncedChecker().Done()
	if !rec.has("add a/one true") {
		t.Errorf("events: %v", rec.all())
	}
	if err := c.Start(t.Context()); err == nil {
		t.Error("started twice")
	}
	s.put("configmaps", configMap("a", "two", nil, "1"))
	eventually(t, "an event after a second start was refused", func() bool { return rec.has("add a/two false") })
}

func TestReaderFailOnMissingInformer(t *testing.T) {
	s := newTestServer(t)
	c := startCache(t, s, Options{ReaderFailOnMissingInformer: true})
	var notCached *ErrResourceNotCached
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); !errors.As(err, &notCached) || notCached.GVK.Kind != "ConfigMap" {
		t.Errorf("List: %v", err)
	}
	if _, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); err != nil {
		t.Errorf("List after GetInformer: %v", err)
	}
}

func TestRemoveInformerStopsTheWatch(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	c := startCache(t, s, Options{})
	i, err := c.GetInformer(t.Context(), &corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	rec := newRecorder()
	if _, err := i.AddEventHandler(rec); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a watch", func() bool { now, _ := s.openWatches(); return now == 1 })
	for range 2 {
		if err := c.RemoveInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "no watch", func() bool { now, _ := s.openWatches(); return now == 0 })
	if !i.IsStopped() {
		t.Error("the informer does not say that it is stopped")
	}
	if _, err := i.AddEventHandler(rec); err == nil {
		t.Error("a stopped informer takes a handler")
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, &corev1.ConfigMap{}); err != nil {
		t.Errorf("a later read: %v", err)
	}
}

func TestAnInformerOfAKindThatIsNotServedIsRemovedAlready(t *testing.T) {
	c := startCache(t, newTestServer(t), Options{})
	gone := &unstructured.Unstructured{}
	gone.SetGroupVersionKind(schema.GroupVersionKind{Group: "gone.io", Version: "v1", Kind: "Gone"})
	if err := c.RemoveInformer(t.Context(), gone); err != nil {
		t.Error(err)
	}
}

// A Go type that stands for several kinds is read as the one that the object says.
func TestATypeOfSeveralKindsIsReadAsWhatTheObjectSays(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	known := runtime.NewScheme()
	metav1.AddToGroupVersion(known, corev1.SchemeGroupVersion)
	for _, kind := range []string{"ConfigMap", "Secret"} {
		known.AddKnownTypeWithName(corev1.SchemeGroupVersion.WithKind(kind), &corev1.ConfigMap{})
		known.AddKnownTypeWithName(corev1.SchemeGroupVersion.WithKind(kind+"List"), &corev1.ConfigMapList{})
	}
	c := startCache(t, s, Options{Scheme: known})
	for _, kind := range []string{"ConfigMap", "Secret", "ConfigMap"} {
		as := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}}
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, as)
		if found := kind == "ConfigMap"; found != (err == nil) || !found && !apierrors.IsNotFound(err) {
			t.Errorf("as %s: %v", kind, err)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, &corev1.ConfigMap{}); err == nil {
		t.Error("an object that says neither was read")
	}
}

func TestStartEndsWhateverTheServerDoes(t *testing.T) {
	s := newTestServer(t)
	s.hold = make(chan struct{})
	defer close(s.hold)
	c, err := New(s.config(), Options{Mapper: testMapper()})
	if err != nil {
		t.Fatal(err)
	}
	down, err := New(downConfig(), Options{Mapper: testMapper()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Cache{c, down} {
		if _, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		begun := time.Now()
		if err := c.Start(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		if d := time.Since(begun); d > 30*time.Second {
			t.Errorf("Start took %v to end", d)
		}
		c.(*stores).options.HTTPClient.CloseIdleConnections()
		if err := c.List(t.Context(), &corev1.ConfigMapList{}); err == nil {
			t.Error("a read after the end says nothing")
		}
	}
}

func TestUnstructuredOfAKindTheSchemeDoesNotKnow(t *testing.T) {
	s := newTestServer(t)
	w := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "a", "name": "w"}, "spec": map[string]any{"size": 3}}
	s.put("widgets", w)
	c := startCache(t, s, Options{})
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "WidgetList"})
	if err := c.List(t.Context(), l); err != nil || len(l.Items) != 1 {
		t.Fatalf("List: %v, %v", l, err)
	}
	if size, _, _ := unstructured.NestedInt64(l.Items[0].Object, "spec", "size"); size != 3 {
		t.Errorf("size: %d", size)
	}
	i, err := c.GetInformerForKind(t.Context(), widgetKind)
	if err != nil {
		t.Fatal(err)
	}
	_, rec := hear(t, i)
	if _, ok := rec.content["a/w"].(*unstructured.Unstructured); !ok {
		t.Errorf("handed over: %T", rec.content["a/w"])
	}
}
