package fake_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
)

// next returns the next event of a watch, in short.
func next(t *testing.T, w watch.Interface) string {
	t.Helper()
	event, ok := <-w.ResultChan()
	if !ok {
		return "closed"
	}
	return fmt.Sprintf("%s %s %T", event.Type, event.Object.(client.Object).GetName(), event.Object)
}

func TestWatchTellsWhatThereIsAndWhatHappens(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(configMap("a", map[string]string{"x": "y"}), configMap("b", nil)).Build()
	unstructuredList, metadataList := &unstructured.UnstructuredList{}, &metav1.PartialObjectMetadataList{}
	unstructuredList.SetGroupVersionKind(configMapKind)
	metadataList.SetGroupVersionKind(configMapKind)
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, unstructuredList, metadataList} {
		t.Run(fmt.Sprintf("%T", list), func(t *testing.T) {
			w, err := c.Watch(t.Context(), list, client.MatchingLabels{"x": "y"})
			must(t, err)
			defer w.Stop()
			must(t, c.Patch(t.Context(), configMap("b", nil), merge(`{"metadata":{"labels":{"x":"y"}}}`)))
			must(t, c.Patch(t.Context(), configMap("b", nil), merge(`{"data":{"k":"v"}}`)))
			must(t, c.Patch(t.Context(), configMap("b", nil), merge(`{"metadata":{"labels":null},"data":null}`)))
			must(t, c.Create(t.Context(), configMap("c", map[string]string{"x": "y"})))
			must(t, c.Delete(t.Context(), configMap("c", nil)))
			w.Stop()
			var got []string
			for event := range w.ResultChan() {
				got = append(got, fmt.Sprintf("%s %s", event.Type, event.Object.(client.Object).GetName()))
			}
			if want := "[ADDED a ADDED b MODIFIED b DELETED b ADDED c DELETED c]"; fmt.Sprint(got) != want {
				t.Errorf("events %v, want %s", got, want)
			}
		})
	}
}

func TestWatchGoesOnFromAList(t *testing.T) {
	c := fake.NewClientBuilder().WithGlobalResourceVersionCounter().WithObjects(configMap("a", nil)).Build()
	var list corev1.ConfigMapList
	must(t, c.List(t.Context(), &list))
	must(t, c.Create(t.Context(), configMap("b", nil)))
	w, err := c.Watch(t.Context(), &list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	must(t, err)
	defer w.Stop()
	if got := next(t, w); got != "ADDED b *v1.ConfigMap" {
		t.Errorf("first event %s", got)
	}
	for i := range 3000 {
		must(t, c.Create(t.Context(), configMap(fmt.Sprint("more-", i), nil)))
	}
	_, err = c.Watch(t.Context(), &list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	wantReason(t, err, metav1.StatusReasonExpired)
}

func TestWatchFromAVersionOfAnObject(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(configMap("a", nil)).Build()
	w, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "999"}})
	must(t, err)
	defer w.Stop()
	must(t, c.Delete(t.Context(), configMap("a", nil)))
	if got := next(t, w); got != "DELETED a *v1.ConfigMap" {
		t.Errorf("first event %s", got)
	}
}

func TestWatchLosesNothingThatIsReadLate(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	w, err := c.Watch(t.Context(), &corev1.ConfigMapList{})
	must(t, err)
	const many = 500 // more than wait without a goroutine
	for i := range many {
		must(t, c.Create(t.Context(), configMap(fmt.Sprintf("c-%03d", i), nil)))
	}
	for i := range many {
		if got, want := next(t, w), fmt.Sprintf("ADDED c-%03d *v1.ConfigMap", i); got != want {
			t.Fatalf("event %s, want %s", got, want)
		}
	}
	w.Stop()
	w.Stop()
	if got := next(t, w); got != "closed" {
		t.Errorf("after Stop: %s", got)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	ctx, cancel := contextThatEnds(t)
	w, err := c.Watch(ctx, &corev1.ConfigMapList{})
	must(t, err)
	for i := range 200 { // a queue that nobody reads must not hold the goroutine that moves it
		must(t, c.Create(t.Context(), configMap(fmt.Sprint("c-", i), nil)))
	}
	cancel()
	for range w.ResultChan() {
	}
}

func TestConcurrentUse(t *testing.T) {
	c := fake.NewClientBuilder().WithReturnManagedFields().WithObjects(configMap("shared", nil)).Build()
	w, err := c.Watch(t.Context(), &corev1.ConfigMapList{})
	must(t, err)
	defer w.Stop()
	var wg sync.WaitGroup
	const workers, rounds = 8, 30
	for i := range workers {
		wg.Go(func() {
			for j := range rounds {
				own := configMap(fmt.Sprintf("own-%d-%d", i, j), nil)
				if err := c.Create(t.Context(), own); err != nil {
					t.Error(err)
				}
				if err := c.Patch(t.Context(), configMap("shared", nil), merge(fmt.Sprintf(`{"data":{"w%d":"%d"}}`, i, j))); err != nil {
					t.Error(err)
				}
				if err := c.List(t.Context(), &corev1.ConfigMapList{}, client.Limit(5)); err != nil {
					t.Error(err)
				}
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(own), &corev1.ConfigMap{}); err != nil {
					t.Error(err)
				}
				if j%2 == 0 {
					if err := c.Delete(t.Context(), own); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if shared := get(t, c, configMap("shared", nil)); shared.ResourceVersion != fmt.Sprint(999+workers*rounds) {
		t.Errorf("resourceVersion %s after %d patches", shared.ResourceVersion, workers*rounds)
	}
}

// The Reflectors of client-go ask for what there is and an event that ends it, and wait for that event.
func TestAReflectorFollowsTheFake(t *testing.T) {
	for _, c := range []client.WithWatch{
		fake.NewClientBuilder().WithObjects(configMap("a", nil)).Build(),
		fake.NewClientBuilder().WithObjects(configMap("a", nil)).WithGlobalResourceVersionCounter().Build(),
	} {
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		reflector := cache.NewReflector(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				list := &corev1.ConfigMapList{}
				return list, c.List(ctx, list, &client.ListOptions{Raw: &o})
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return c.Watch(ctx, &corev1.ConfigMapList{}, &client.ListOptions{Raw: &o})
			},
		}, &corev1.ConfigMap{}, store, 0)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { reflector.RunWithContext(ctx) })
		await(t, func() bool { return fmt.Sprint(store.ListKeys()) == "[ns/a]" })
		must(t, c.Create(t.Context(), configMap("b", nil)))
		must(t, c.Delete(t.Context(), configMap("a", nil)))
		await(t, func() bool { return fmt.Sprint(store.ListKeys()) == "[ns/b]" })
		cancel()
		running.Wait()
	}
}

// await waits until something is so.
func await(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it has not come to that within a minute")
		}
	}
}

func TestTheEndOfWhatThereIsIsAnEvent(t *testing.T) {
	c := fake.NewClientBuilder().WithGlobalResourceVersionCounter().WithObjects(configMap("a", nil)).Build()
	yes := true
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(configMapKind)
	for _, o := range []metav1.ListOptions{
		{SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
		{SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, ResourceVersion: "1"},
	} {
		w, err := c.Watch(t.Context(), list, &client.ListOptions{Raw: &o})
		must(t, err)
		if got := next(t, w); got != "ADDED a *unstructured.Unstructured" {
			t.Errorf("first event %s", got)
		}
		end := <-w.ResultChan()
		mark, ok := end.Object.(*unstructured.Unstructured)
		if end.Type != watch.Bookmark || !ok || mark.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" || mark.GetResourceVersion() != "1" ||
			mark.GroupVersionKind() != configMapKind {
			t.Errorf("then %s %v", end.Type, end.Object)
		}
		w.Stop()
	}
}
