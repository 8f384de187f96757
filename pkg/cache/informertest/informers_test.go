package informertest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/cache/informertest"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller/controllertest"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
)

var pods = corev1.SchemeGroupVersion.WithKind("Pod")

func TestAKindHasOneInformerHoweverItIsAskedFor(t *testing.T) {
	fake := &informertest.FakeInformers{}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(pods)
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(pods)

	first, err := fake.FakeInformerFor(t.Context(), &corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	for name, get := range map[string]func() (any, error){
		"typed":        func() (any, error) { return fake.GetInformer(t.Context(), &corev1.Pod{}) },
		"unstructured": func() (any, error) { return fake.GetInformer(t.Context(), u) },
		"metadata":     func() (any, error) { return fake.GetInformer(t.Context(), m, cache.BlockUntilSynced(true)) },
		"kind":         func() (any, error) { return fake.GetInformerForKind(t.Context(), pods) },
		"fake by kind": func() (any, error) { return fake.FakeInformerForKind(t.Context(), pods) },
		"field":        func() (any, error) { return fake.InformersByGVK[pods], nil },
	} {
		if got, err := get(); err != nil || got != any(first) {
			t.Errorf("%s: another informer, error %v", name, err)
		}
	}
	if other, err := fake.FakeInformerFor(t.Context(), &corev1.Node{}); err != nil || other == first {
		t.Errorf("another kind has the same informer, or error %v", err)
	}
	if err := fake.RemoveInformer(t.Context(), &corev1.Pod{}); err != nil {
		t.Fatal(err)
	}
	if err := fake.RemoveInformer(t.Context(), &corev1.Pod{}); err != nil {
		t.Errorf("removing what is not there: %v", err)
	}
	if again, err := fake.FakeInformerFor(t.Context(), &corev1.Pod{}); err != nil || again == first {
		t.Errorf("a removed informer came back, or error %v", err)
	}
}

func TestSyncedHoldsForTheCacheAndItsInformers(t *testing.T) {
	yes, no := true, false
	for name, tc := range map[string]struct {
		synced *bool
		want   bool
	}{"default": {nil, true}, "true": {&yes, true}, "false": {&no, false}} {
		t.Run(name, func(t *testing.T) {
			fake := &informertest.FakeInformers{Synced: tc.synced}
			if got := fake.WaitForCacheSync(t.Context()); got != tc.want {
				t.Errorf("WaitForCacheSync: %t", got)
			}
			i, err := fake.GetInformer(t.Context(), &corev1.Pod{})
			if err != nil {
				t.Fatal(err)
			}
			if got := i.HasSynced(); got != tc.want {
				t.Errorf("informer's HasSynced: %t", got)
			}
		})
	}
}

func TestMethodsReturnErrorAndNothingElse(t *testing.T) {
	down := errors.New("down")
	// Each method is called on a cache without an error, where it has to succeed, and on one with it.
	for name, call := range map[string]func(context.Context, *informertest.FakeInformers) (any, error){
		"GetInformer": func(ctx context.Context, c *informertest.FakeInformers) (any, error) {
			return c.GetInformer(ctx, &corev1.Pod{})
		},
		"GetInformerForKind": func(ctx context.Context, c *informertest.FakeInformers) (any, error) {
			return c.GetInformerForKind(ctx, pods)
		},
		"FakeInformerFor": func(ctx context.Context, c *informertest.FakeInformers) (any, error) {
			i, err := c.FakeInformerFor(ctx, &corev1.Pod{})
			if i == nil {
				return nil, err
			}
			return i, err
		},
		"FakeInformerForKind": func(ctx context.Context, c *informertest.FakeInformers) (any, error) {
			i, err := c.FakeInformerForKind(ctx, pods)
			if i == nil {
				return nil, err
			}
			return i, err
		},
		"RemoveInformer": func(ctx context.Context, c *informertest.FakeInformers) (any, error) {
			return nil, c.RemoveInformer(ctx, &corev1.Pod{})
		},
		"Start": func(ctx context.Context, c *informertest.FakeInformers) (any, error) { return nil, c.Start(ctx) },
		"IndexField": func(ctx context.Context, c *informertest.FakeInformers) (any, error) {
			return nil, c.IndexField(ctx, &corev1.Pod{}, "spec.nodeName", func(client.Object) []string { return nil })
		},
		"Get": func(ctx context.Context, c *informertest.FakeInformers) (any, error) {
			return nil, c.Get(ctx, client.ObjectKey{Name: "a"}, &corev1.Pod{})
		},
		"List": func(ctx context.Context, c *informertest.FakeInformers) (any, error) {
			return nil, c.List(ctx, &corev1.PodList{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := call(t.Context(), &informertest.FakeInformers{}); err != nil {
				t.Errorf("without Error: %v", err)
			}
			fake := &informertest.FakeInformers{Error: down}
			if got, err := call(t.Context(), fake); !errors.Is(err, down) || got != nil {
				t.Errorf("with Error: %v and error %v", got, err)
			}
			if len(fake.InformersByGVK) > 0 {
				t.Error("with Error: an informer was made")
			}
		})
	}
}

func TestKindsComeFromTheScheme(t *testing.T) {
	fake := &informertest.FakeInformers{Scheme: runtime.NewScheme()}
	if _, err := fake.GetInformer(t.Context(), &corev1.Pod{}); err == nil {
		t.Error("a type that the scheme does not know has an informer")
	}
	if err := fake.RemoveInformer(t.Context(), &corev1.Pod{}); err == nil {
		t.Error("the informer of a type that the scheme does not know was removed")
	}
	if _, err := fake.GetInformerForKind(t.Context(), pods); err != nil {
		t.Errorf("a kind without a Go type: %v", err)
	}
}

func TestAnInformerThatWasPutThereIsUsed(t *testing.T) {
	own := toolscache.NewSharedIndexInformer(&toolscache.ListWatch{}, &corev1.Pod{}, 0, toolscache.Indexers{})
	fake := &informertest.FakeInformers{InformersByGVK: map[schema.GroupVersionKind]toolscache.SharedIndexInformer{pods: own}}
	if got, err := fake.GetInformer(t.Context(), &corev1.Pod{}); err != nil || got != cache.Informer(own) {
		t.Errorf("another informer, error %v", err)
	}
	if _, err := fake.FakeInformerFor(t.Context(), &corev1.Pod{}); err == nil {
		t.Error("a real informer passes for a fake")
	}
}

func TestInformersCanBeAskedForByManyAtOnce(t *testing.T) {
	fake := &informertest.FakeInformers{}
	var all sync.WaitGroup
	got := make([]*controllertest.FakeInformer, 8)
	for n := range got {
		all.Go(func() {
			var err error
			if got[n], err = fake.FakeInformerFor(t.Context(), &corev1.Pod{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, i := range got {
		if i != got[0] {
			t.Fatal("a kind has two informers")
		}
	}
}

func TestASourceIsFedByTheEventsOfTheTest(t *testing.T) {
	fake := &informertest.FakeInformers{}
	informer, err := fake.FakeInformerFor(t.Context(), &corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	q := &controllertest.Queue{TypedInterface: workqueue.NewTyped[reconcile.Request]()}
	defer q.ShutDown()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	kind := source.Kind(fake, &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
	if err := kind.Start(ctx, q); err != nil {
		t.Fatal(err)
	}
	if err := kind.WaitForSync(ctx); err != nil {
		t.Fatal(err)
	}
	informer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
	if q.Len() != 1 {
		t.Fatalf("%d requests, want one", q.Len())
	}
	got, _ := q.Get()
	q.Done(got)
	want := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "web"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestASourceOfACacheThatDoesNotSyncFails(t *testing.T) {
	no := false
	q := &controllertest.Queue{TypedInterface: workqueue.NewTyped[reconcile.Request]()}
	defer q.ShutDown()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	kind := source.Kind(&informertest.FakeInformers{Synced: &no}, &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
	if err := kind.Start(ctx, q); err != nil {
		t.Fatal(err)
	}
	if err := kind.WaitForSync(ctx); err == nil || !strings.Contains(err.Error(), "the cache gave up") {
		t.Errorf("got %v", err)
	}
}
