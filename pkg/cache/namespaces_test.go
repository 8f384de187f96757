package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-dev/operon/pkg/client"
)

// controller-runtime's #1590: the namespaces of a cache are fixed when it is made.
func TestNamespacesComeAndGoWhileTheCacheRuns(t *testing.T) {
	ctx := t.Context()
	s := newTestServer(t)
	for _, ns := range []string{"a", "b", "c"} {
		s.put("configmaps", configMap(ns, "one", nil, ns))
		s.put("configmaps", configMap(ns, "two", map[string]string{"in": "yes"}, ns))
		s.put("secrets", &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: configMap(ns, "secret", nil, "").ObjectMeta})
	}
	c := startCache(t, s, Options{
		DefaultNamespaces: map[string]Config{"a": {}},
		ByObject:          map[client.Object]ByObject{&corev1.Secret{}: {Namespaces: map[string]Config{"b": {}}}},
	})
	list := func(opts ...client.ListOption) string {
		t.Helper()
		var l corev1.ConfigMapList
		if err := c.List(ctx, &l, opts...); err != nil {
			return err.Error()
		}
		return names(&l)
	}
	_, _, rec := useInformer(t, c, &corev1.ConfigMap{})
	if got := list(); got != "a/one a/two" {
		t.Fatalf("at first: %s", got)
	}
	var missing *ErrNamespaceNotCached
	if err := c.Get(ctx, client.ObjectKey{Namespace: "b", Name: "one"}, &corev1.ConfigMap{}); !errors.As(err, &missing) || missing.Namespace != "b" {
		t.Errorf("a read in a namespace that is not held: %v", err)
	}

	for range 2 { // a second time changes nothing
		if err := AddNamespace(ctx, c, "b", Config{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := AddNamespace(ctx, c, "c", Config{LabelSelector: labels.SelectorFromSet(labels.Set{"in": "yes"})}); err != nil {
		t.Fatal(err)
	}
	if got := list(); got != "a/one a/two b/one b/two c/two" {
		t.Errorf("all: %s", got)
	}
	if got := list(client.InNamespace("c")); got != "c/two" {
		t.Errorf("in c: %s", got)
	}
	eventually(t, "the handler's news", func() bool { return rec.has("add b/one false") && rec.has("add c/two false") })
	s.awaitWatches(t, 3)
	s.put("configmaps", configMap("b", "later", nil, ""))
	eventually(t, "a later object", func() bool { return strings.Contains(list(), "b/later") })

	for range 2 {
		if err := RemoveNamespace(c, "b"); err != nil {
			t.Fatal(err)
		}
	}
	if got := list(); got != "a/one a/two c/two" {
		t.Errorf("without b: %s", got)
	}
	if got := list(client.InNamespace("b")); !strings.Contains(got, `does not hold namespace "b"`) {
		t.Errorf("in b: %s", got)
	}
	eventually(t, "the handler's news", func() bool { return rec.has("delete b/one") && rec.has("delete b/later") })
	s.awaitWatches(t, 2)
	own := configMap("b", "own", nil, "")
	own.UID, own.ResourceVersion = "own", "100000"
	c.(*stores).ObserveWrite(client.Written{GVK: configMapKind, Object: own})
	if got := list(); got != "a/one a/two c/two" {
		t.Errorf("after a write in b: %s", got)
	}

	// Kinds that nobody had asked for by now, and those with namespaces of their own.
	var secrets corev1.SecretList
	if err := c.List(ctx, &secrets); err != nil || len(secrets.Items) != 1 || secrets.Items[0].Namespace != "b" {
		t.Errorf("secrets: %v, %v", secrets.Items, err)
	}
	for _, ns := range []string{"a", "c"} {
		if err := RemoveNamespace(c, ns); err != nil {
			t.Fatal(err)
		}
	}
	if got := list(); got != "" {
		t.Errorf("without namespaces: %s", got)
	}
	m := inForm(t, formFull, configMap("", "", nil, ""))
	if err := c.Get(ctx, client.ObjectKey{Namespace: "a", Name: "one"}, m); !errors.As(err, &missing) {
		t.Errorf("a read in another form: %v", err)
	}
	if err := AddNamespace(ctx, c, "a", Config{}); err != nil || list() != "a/one a/two" {
		t.Errorf("again: %s, %v", list(), err)
	}
	if rec.bad != nil {
		t.Errorf("handler: %v", rec.bad)
	}
}

func TestANamespaceThatMayNotBeListedSaysSoAndComesLater(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("b", "one", nil, ""))
	c := startCache(t, s, Options{DefaultNamespaces: map[string]Config{"a": {}}})
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.forbid["configmaps"] = true
	s.mu.Unlock()
	add := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return AddNamespace(ctx, c, "b", Config{})
	}
	if err := add(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("AddNamespace: %v", err)
	}
	eventually(t, "the refusal", func() bool { return len(WatchErrors(c)) > 0 })
	err := add() // it is there already, and says what it waits for
	var refused *WatchError
	if !errors.As(err, &refused) || !refused.Forbidden() || refused.Namespace != "b" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("AddNamespace: %v", err)
	}
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); err != nil {
		t.Errorf("the others: %v", err)
	}
	s.mu.Lock()
	s.forbid["configmaps"] = false
	s.mu.Unlock()
	if err := AddNamespace(t.Context(), c, "b", Config{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "b", Name: "one"}, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
}

func TestNamespacesBeforeTheStart(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("b", "one", nil, ""))
	c, err := New(s.config(), Options{Mapper: testMapper(), DefaultNamespaces: map[string]Config{"a": {}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(AddNamespace(t.Context(), c, "b", Config{}), RemoveNamespace(c, "a")); err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "b", Name: "one"}, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, &corev1.ConfigMap{}); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("in a: %v", err)
	}
}

func TestACacheOfAllNamespacesTakesNoMore(t *testing.T) {
	for name, opts := range map[string]Options{"all": {}, "the rest": {DefaultNamespaces: map[string]Config{"a": {}, AllNamespaces: {}}}} {
		t.Run(name, func(t *testing.T) {
			c := startCache(t, newTestServer(t), opts)
			if err := AddNamespace(t.Context(), c, "b", Config{}); err == nil || !strings.Contains(err.Error(), "DefaultNamespaces") {
				t.Errorf("AddNamespace: %v", err)
			}
			if err := RemoveNamespace(c, "a"); err == nil {
				t.Error("RemoveNamespace says nothing")
			}
		})
	}
}

// Namespaces come and go while others write, we write, and everybody reads: in the end the cache and its handlers have what
// the server has.
func TestNamespacesComeAndGoUnderLoad(t *testing.T) {
	s := newTestServer(t)
	c := startCache(t, s, Options{DefaultNamespaces: map[string]Config{"a": {}}}).(*stores)
	_, _, rec := useInformer(t, c, &corev1.ConfigMap{})
	over := make(chan struct{})
	var workers sync.WaitGroup
	stop := sync.OnceFunc(func() {
		close(over)
		workers.Wait()
	})
	defer stop()
	work := func(f func(round int) error) {
		workers.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-over:
					return
				default:
				}
				if err := f(round); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	work(func(round int) error {
		s.put("configmaps", configMap("b", fmt.Sprint(round%5), nil, fmt.Sprint(round)))
		return nil
	})
	work(func(round int) error {
		raw, err := json.Marshal(s.put("configmaps", configMap("b", fmt.Sprint("own-", round%3), nil, fmt.Sprint(round))))
		c.ObserveWrite(client.Written{GVK: configMapKind, JSON: raw})
		return err
	})
	work(func(int) error {
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "b", Name: "own-0"}, &corev1.ConfigMap{})
		var missing *ErrNamespaceNotCached
		if errors.As(err, &missing) || apierrors.IsNotFound(err) {
			err = nil
		}
		return err
	})
	for range 25 {
		if err := AddNamespace(t.Context(), c, "b", Config{}); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "b", Name: "0"}, &corev1.ConfigMap{}); err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("a namespace that is held: %v", err)
		}
		if err := RemoveNamespace(c, "b"); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := AddNamespace(t.Context(), c, "b", Config{}); err != nil {
		t.Fatal(err)
	}
	s.put("configmaps", configMap("b", "last", nil, ""))
	eventually(t, "the last event", func() bool { return rec.has("add b/last false") })
	s.mu.Lock()
	want := len(s.objects["configmaps"])
	s.mu.Unlock()
	var l corev1.ConfigMapList
	if err := c.List(t.Context(), &l); err != nil || len(l.Items) != want || len(rec.content) != want {
		t.Errorf("%d objects, the handler knows %d, the server has %d: %v", len(l.Items), len(rec.content), want, err)
	}
	for i := range l.Items {
		if known := rec.content[l.Items[i].Namespace+"/"+l.Items[i].Name]; known == nil || known.GetResourceVersion() != l.Items[i].ResourceVersion {
			t.Errorf("%s: the handler has another", l.Items[i].Name)
		}
	}
	if rec.bad != nil {
		t.Errorf("handler: %v", rec.bad)
	}
}
