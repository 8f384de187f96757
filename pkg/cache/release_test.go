package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/client"
)

func (s *testServer) awaitWatches(t testing.TB, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d watches", n), func() bool { now, _ := s.openWatches(); return now == n })
}

// controller-runtime's #1884 and #2983: watches outlive the controllers they were for, and cannot be removed safely, since
// others may be using them.
func TestAWatchEndsWithTheLastOfItsUsers(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	c := startCache(t, s, Options{})
	var registrations []toolscache.ResourceEventHandlerRegistration
	var informers []Informer
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(configMapKind)
	for _, obj := range []client.Object{&corev1.ConfigMap{}, &corev1.ConfigMap{}, m} {
		i, reg, _ := useInformer(t, c, obj)
		informers, registrations = append(informers, i), append(registrations, reg)
	}
	s.awaitWatches(t, 1)
	// A controller reads what it watches: that is no use of its own.
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	for n := range informers {
		if now, _ := s.openWatches(); now != 1 {
			t.Fatalf("%d watches while %d use it", now, len(informers)-n)
		}
		for range 2 { // a second time is no error
			if err := informers[n].RemoveEventHandler(registrations[n]); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.awaitWatches(t, 0)
	if len(c.(*stores).all()) != 0 {
		t.Error("the store is still there")
	}

	// The last reconcile of a controller that ends starts nothing.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.List(ended, &corev1.ConfigMapList{}); !errors.Is(err, context.Canceled) || !apierrors.IsTimeout(err) {
		t.Errorf("a read at the end: %v", err)
	}
	if _, err := c.GetInformer(ended, &corev1.ConfigMap{}); !errors.Is(err, context.Canceled) || !apierrors.IsTimeout(err) {
		t.Errorf("an informer at the end: %v", err)
	}
	if len(c.(*stores).all()) != 0 {
		t.Error("something was started at the end")
	}

	// The informer can be used again.
	reg, rec := hear(t, informers[0])
	if !rec.has("add a/one true") || !informers[0].HasSynced() || informers[0].IsStopped() {
		t.Errorf("anew: %v", rec.all())
	}
	s.awaitWatches(t, 1)
	// Its handler can be removed through another informer of the resource.
	another, err := c.GetInformer(t.Context(), &corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	// One that is got to see how things stand holds nobody from leaving.
	if look, err := c.GetInformer(ended, &corev1.ConfigMap{}); err != nil || !look.HasSynced() {
		t.Errorf("a look: %v", err)
	}
	if err := another.RemoveEventHandler(reg); err != nil {
		t.Fatal(err)
	}
	s.awaitWatches(t, 0)
}

func TestAnInformerWithoutHandlersAndAReadKeepAWatch(t *testing.T) {
	for name, keep := range map[string]func(c Cache) error{
		"an informer": func(c Cache) error { _, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}); return err },
		"a read":      func(c Cache) error { return c.List(t.Context(), &corev1.ConfigMapList{}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestServer(t)
			c := startCache(t, s, Options{})
			if err := keep(c); err != nil {
				t.Fatal(err)
			}
			i, reg, _ := useInformer(t, c, &corev1.ConfigMap{})
			if err := i.RemoveEventHandler(reg); err != nil {
				t.Fatal(err)
			}
			if err := c.List(t.Context(), &corev1.ConfigMapList{}); err != nil {
				t.Fatal(err)
			}
			if n := s.count("watch "); n != 1 {
				t.Errorf("%d watches were opened", n)
			}
			s.awaitWatches(t, 1)
			if err := c.RemoveInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
				t.Fatal(err)
			}
			s.awaitWatches(t, 0)
		})
	}
}

func TestIndexesOutliveTheUsersOfAStore(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	s.put("configmaps", configMap("a", "two", nil, "2"))
	c := startCache(t, s, Options{})
	byData := func(o client.Object) []string { return []string{o.(*corev1.ConfigMap).Data["data"]} }
	if err := c.IndexField(t.Context(), &corev1.ConfigMap{}, "data", byData); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		i, reg, _ := useInformer(t, c, &corev1.ConfigMap{})
		var l corev1.ConfigMapList
		if err := c.List(t.Context(), &l, client.MatchingFields{"data": "2"}); err != nil || names(&l) != "a/two" {
			t.Errorf("by the index: %s, %v", names(&l), err)
		}
		if err := i.RemoveEventHandler(reg); err != nil {
			t.Fatal(err)
		}
		s.awaitWatches(t, 0)
	}
	if err := c.IndexField(t.Context(), &corev1.ConfigMap{}, "data", byData); err == nil {
		t.Error("the same index twice")
	}
	if err := c.RemoveInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	if err := c.IndexField(t.Context(), &corev1.ConfigMap{}, "data", byData); err != nil {
		t.Errorf("after RemoveInformer: %v", err)
	}
}

// Whoever waits for a list while the others leave gets it nevertheless.
func TestAReaderWaitsForTheListThatOthersAskedFor(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	s.hold = make(chan struct{})
	c := startCache(t, s, Options{})
	i, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}, BlockUntilSynced(false))
	if err != nil {
		t.Fatal(err)
	}
	reg, err := i.AddEventHandler(newRecorder())
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		read <- c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, &corev1.ConfigMap{})
	}()
	eventually(t, "a request", func() bool { return s.count("configmaps") > 0 })
	if err := i.RemoveEventHandler(reg); err != nil {
		t.Fatal(err)
	}
	close(s.hold)
	if err := <-read; err != nil {
		t.Error(err)
	}
}

func TestAnImpatientUserDoesNotStartTheListAnew(t *testing.T) {
	s := newTestServer(t)
	s.hold = make(chan struct{})
	c := startCache(t, s, Options{})
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := c.GetInformer(ctx, &corev1.ConfigMap{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
	}
	close(s.hold)
	if _, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	if n := s.count("configmaps"); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestTheLastUserGivesTheMemoryBack(t *testing.T) {
	const n = 2000
	s := newTestServer(t)
	s.stream = false
	for i := range n {
		s.put("configmaps", configMap("a", fmt.Sprint(i), nil, fmt.Sprintf("%01000d", i)))
	}
	c := startCache(t, s, Options{})
	before := heap()
	i, reg, rec := useInformer(t, c, &corev1.ConfigMap{})
	rec.mu.Lock()
	rec.content, rec.events = nil, nil
	rec.mu.Unlock()
	held := int(heap() - before)
	if held < n*1000 {
		t.Fatalf("only %d bytes are held", held)
	}
	if err := i.RemoveEventHandler(reg); err != nil {
		t.Fatal(err)
	}
	s.awaitWatches(t, 0)
	eventually(t, "the memory", func() bool { return int(heap())-int(before) < held/10 })
	runtime.KeepAlive(i)
	runtime.KeepAlive(c)
}

// Handlers, readers and RemoveInformer at the same time: the race detector watches, and in the end nothing is left.
func TestUsersComeAndGoAtTheSameTime(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	c := startCache(t, s, Options{})
	done := make(chan error)
	for worker := range 6 {
		go func() {
			done <- func() error {
				for n := range 30 {
					i, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}, BlockUntilSynced(false))
					if err != nil {
						return err
					}
					reg, err := i.AddEventHandler(newRecorder())
					if worker == 5 && n%3 == 0 {
						if err := c.RemoveInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
							return err
						}
					}
					if err == nil {
						err = i.RemoveEventHandler(reg)
					} else if i.IsStopped() {
						err = nil // removed by the one that does
					}
					if err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range 6 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	s.awaitWatches(t, 0)
	if len(c.(*stores).all()) != 0 {
		t.Error("a store without users is left")
	}
}

// A readiness check asks, with a context that has ended, what keeps an informer from being filled. It is no user: a
// controller that stops at that moment is the last one.
func TestWhoOnlyLooksKeepsNoWatch(t *testing.T) {
	s := newTestServer(t)
	s.hold = make(chan struct{})
	t.Cleanup(func() { close(s.hold) })
	c := startCache(t, s, Options{}).(*stores)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	stop, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = c.GetInformer(over, &corev1.ConfigMap{})
			}
		}
	}()
	for n := range 300 {
		i, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}, BlockUntilSynced(false))
		if err != nil {
			t.Fatal(err)
		}
		reg, err := i.AddEventHandler(newRecorder())
		if err != nil {
			t.Fatal(err)
		}
		held := c.storeOf(configMapKind)
		if err := i.RemoveEventHandler(reg); err != nil {
			t.Fatal(err)
		}
		eventually(t, fmt.Sprintf("the end of watch %d with its last user", n), held.stopped.isOpen)
	}
	close(stop)
	<-looked
}

// An index in another form keeps nobody from leaving. Who comes at that moment, with the store in hand, is not let in.
func TestAStoreThatHasEndedTakesNobodyIn(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	c := startCache(t, s, Options{}).(*stores)
	m := inForm(t, formMetadata, configMap("", "", nil, ""))
	if err := c.IndexField(t.Context(), m, "first", func(obj client.Object) []string { return []string{obj.GetName()[:1]} }); err != nil {
		t.Fatal(err)
	}
	i, reg, _ := useInformer(t, c, &corev1.ConfigMap{})
	ended := c.storeOf(configMapKind)
	if err := i.RemoveEventHandler(reg); err != nil {
		t.Fatal(err)
	}
	if !ended.stopped.isOpen() {
		t.Fatal("the store goes on without users")
	}
	for f := range numForms {
		if ended.use(f, toRead) != nil {
			t.Errorf("%s: the store that has ended has one more user", f)
		}
	}
	_, _, rec := useInformer(t, c, m)
	eventually(t, "the content, in another store", func() bool { return rec.has("add a/one true") })
}
