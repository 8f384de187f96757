package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
)

func (s *testServer) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Whatever an API server or a proxy before it answers while it is out of order: what was read stays, the reason is told,
// and the cache is up to date soon after.
func TestServerErrorsAreToldAndOutlived(t *testing.T) {
	for _, code := range []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusTooManyRequests} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			s := newTestServer(t)
			s.put("configmaps", configMap("a", "one", nil, "1"))
			c := startCache(t, s, Options{})
			_, _, rec := useInformer(t, c, &corev1.ConfigMap{})
			s.awaitWatches(t, 1)
			s.change(func() { s.broken = code })
			s.compact()
			eventually(t, "the reason", func() bool { return len(WatchErrors(c)) == 1 })
			if err := WatchErrors(c)[0]; err.Forbidden() || err.Subject != "" || err.Resource.Resource != "configmaps" {
				t.Errorf("told: %+v", err)
			}
			var cm corev1.ConfigMap
			if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, &cm); err != nil || cm.Data["data"] != "1" {
				t.Errorf("meanwhile: %v, %v", cm.Data, err)
			}
			s.put("configmaps", configMap("a", "one", nil, "2"))
			s.put("configmaps", configMap("a", "two", nil, "2"))
			s.change(func() { s.broken = 0 })
			eventually(t, "what happened meanwhile", func() bool { return rec.has("update a/one") && rec.has("add a/two false") })
			eventually(t, "nothing to tell", func() bool { return len(WatchErrors(c)) == 0 })
			if rec.bad != nil {
				t.Errorf("handler: %v", rec.bad)
			}
		})
	}
}

// A list that takes long holds up those who wait for it, and nobody else.
func TestASlowListHoldsUpItsReadersAlone(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	c := startCache(t, s, Options{})
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	s.change(func() { s.hold = hold })
	slow := make(chan error, 1)
	go func() { slow <- c.List(t.Context(), &corev1.SecretList{}) }()
	eventually(t, "the request", func() bool { return s.count("secrets") > 0 })
	s.put("configmaps", configMap("a", "one", nil, "2")) // by the watch that is open
	eventually(t, "another resource's event", func() bool {
		var cm corev1.ConfigMap
		return c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "one"}, &cm) == nil && cm.Data["data"] == "2"
	})
	s.compact() // the next list of what is read already is slow, too
	eventually(t, "the list anew", func() bool { return s.count("configmaps") > 1 })
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); err != nil {
		t.Errorf("a reader of what is there: %v", err)
	}
	select {
	case err := <-slow:
		t.Errorf("a list that did not come: %v", err)
	default:
	}
	close(hold)
	if err := <-slow; err != nil {
		t.Error(err)
	}
}

// Watches are cut, lists are made anew and held up while this program writes: each write shows in the very next read.
func TestOwnWritesShowThroughCutsAndLists(t *testing.T) {
	for _, f := range []form{formTyped, formFull} {
		t.Run(f.String(), func(t *testing.T) {
			s := newTestServer(t)
			for i := range 5 {
				s.put("configmaps", configMap("a", fmt.Sprint(i), nil, ""))
			}
			c := startCache(t, s, Options{}).(*stores)
			obj := inForm(t, f, configMap("", "", nil, ""))
			_, _, rec := useInformer(t, c, obj)
			random := rand.New(rand.NewPCG(7, uint64(f)))
			var hold chan struct{}
			release := func() {
				if hold != nil {
					close(hold)
					hold = nil
				}
			}
			defer release()
			for round := range 300 {
				switch random.IntN(12) {
				case 0:
					s.cutWatches()
				case 1:
					s.compact()
				case 2:
					release()
					hold = make(chan struct{})
					s.change(func() { s.hold = hold })
					s.compact()
				case 3:
					s.change(func() { s.hold = nil })
					release()
				}
				key := client.ObjectKey{Namespace: "a", Name: fmt.Sprint(random.IntN(5))}
				answer := writeOwn(t, c, s, configMap(key.Namespace, key.Name, nil, fmt.Sprint(round)))
				if err := c.Get(t.Context(), key, obj); err != nil || obj.GetResourceVersion() != answer.ResourceVersion {
					t.Fatalf("round %d: read version %s after %s was written: %v", round, obj.GetResourceVersion(), answer.ResourceVersion, err)
				}
			}
			s.change(func() { s.hold = nil })
			release()
			s.remove("configmaps", "a", "0")
			eventually(t, "the end", func() bool { return rec.has("delete a/0") })
			if rec.bad != nil {
				t.Errorf("handler: %v", rec.bad)
			}
		})
	}
}

// writeOwn writes an object, tells the cache of the server's answer as the client does, and returns the answer.
func writeOwn(t *testing.T, c *stores, s *testServer, cm *corev1.ConfigMap) *corev1.ConfigMap {
	t.Helper()
	raw, err := json.Marshal(s.put("configmaps", cm))
	if err != nil {
		t.Fatal(err)
	}
	answer := &corev1.ConfigMap{}
	if err := json.Unmarshal(raw, answer); err != nil {
		t.Fatal(err)
	}
	c.ObserveWrite(client.Written{GVK: configMapKind, Object: answer, JSON: raw})
	return answer
}

// A watch that brings nothing but bookmarks goes on from the last of them, though the server has forgotten all before it.
// Own writes that come between them stay, and what bookmarks pass over is not undone.
func TestAWatchOfBookmarksAloneNeedsNoOtherList(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	s.put("configmaps", configMap("a", "gone", nil, "1"))
	c := startCache(t, s, Options{}).(*stores)
	_, _, rec := useInformer(t, c, &corev1.ConfigMap{})
	s.awaitWatches(t, 1)
	f := c.storeOf(configMapKind).feeds()[0]
	passed := func(rv int) {
		eventually(t, "the bookmark", func() bool {
			f.store.mu.RLock()
			defer f.store.mu.RUnlock()
			return f.floor >= uint64(rv)
		})
	}
	var cm corev1.ConfigMap
	key := client.ObjectKey{Namespace: "a", Name: "one"}
	for round := range 5 {
		answer := writeOwn(t, c, s, configMap("a", "one", nil, fmt.Sprint("own-", round)))
		passed(s.bookmark())
		if err := c.Get(t.Context(), key, &cm); err != nil || cm.ResourceVersion != answer.ResourceVersion {
			t.Fatalf("round %d: version %s after %s was written, %v", round, cm.ResourceVersion, answer.ResourceVersion, err)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "gone"}, &cm); err != nil {
		t.Fatal(err)
	}
	s.remove("configmaps", "a", "gone")
	c.ObserveDelete(configMapKind, client.ObjectKeyFromObject(&cm), cm.UID)
	last := s.bookmark()
	passed(last)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(&cm), &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("what was deleted: %v", err)
	}

	lists := func() int { return s.count("list /api/v1/configmaps") + s.count("sendInitialEvents=true") }
	before, watches := lists(), s.count("watch ")
	s.change(func() { s.oldest = last }) // what the bookmark says is the oldest that is known
	s.cutWatches()
	eventually(t, "the watch anew", func() bool { return s.count("watch ") > watches })
	s.put("configmaps", configMap("a", "two", nil, "2"))
	eventually(t, "an event after the cut", func() bool { return rec.has("add a/two false") })
	if n := lists() - before; n > 0 {
		t.Errorf("%d lists after a bookmark", n)
	}
	if rec.bad != nil {
		t.Errorf("handler: %v", rec.bad)
	}
}

// Readers are busy, and some wait for a list that does not come, when the cache ends: those who wait are told, the others
// read what is there or are told; nobody hangs, and nobody is told that what is there is not.
func TestReadersWhileTheCacheEnds(t *testing.T) {
	s := newTestServer(t)
	for i := range 20 {
		s.put("configmaps", configMap("a", fmt.Sprint(i), map[string]string{"in": "yes"}, ""))
	}
	c, err := New(s.config(), Options{Mapper: testMapper()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.(*stores).options.HTTPClient.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	<-c.(*stores).crew.started.Done()
	if err := c.List(t.Context(), &corev1.ConfigMapList{}); err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	defer close(hold)
	s.change(func() { s.hold = hold })

	full := &unstructured.UnstructuredList{} // the watch is replaced for it
	full.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	var waiting, busy sync.WaitGroup
	for _, list := range []client.ObjectList{&corev1.SecretList{}, &corev1.PodList{}, full} {
		waiting.Go(func() {
			if err := c.List(t.Context(), list); err == nil {
				t.Errorf("%T: listed, though the server did not answer", list)
			}
		})
	}
	eventually(t, "those who wait", func() bool { return s.count("secrets") > 0 && s.count("pods") > 0 && s.count("configmaps") > 1 })
	stop := make(chan struct{})
	var reads atomic.Int64
	for range 4 {
		busy.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				key := client.ObjectKey{Namespace: "a", Name: fmt.Sprint(n % 20)}
				if err := c.Get(t.Context(), key, &corev1.ConfigMap{}); apierrors.IsNotFound(err) {
					t.Errorf("Get: %v", err)
					return
				}
				var l corev1.ConfigMapList
				if err := c.List(t.Context(), &l, client.MatchingLabels{"in": "yes"}); err == nil && len(l.Items) != 20 {
					t.Errorf("List: %d items of 20", len(l.Items))
					return
				}
				reads.Add(1)
			}
		})
	}
	eventually(t, "reads", func() bool { return reads.Load() > 100 })
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Start does not end while there are readers")
	}
	waiting.Wait()
	after := reads.Load()
	eventually(t, "reads after the end", func() bool { return reads.Load() > after+100 })
	close(stop)
	busy.Wait()
}

// The definition of a resource is deleted while it is watched, and comes again.
func TestAResourceThatComesBackIsPickedUpSoon(t *testing.T) {
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", nil, "1"))
	c := startCache(t, s, Options{})
	_, _, rec := useInformer(t, c, &corev1.ConfigMap{})
	s.change(func() { s.broken = http.StatusNotFound })
	s.remove("configmaps", "a", "one")
	s.compact()
	before := s.count("configmaps")
	eventually(t, "attempts enough for a long pause", func() bool { return s.count("configmaps") > before+10 })
	s.put("configmaps", configMap("a", "two", nil, "2"))
	s.change(func() { s.broken = 0 })
	back := time.Now()
	eventually(t, "what is there now", func() bool { return rec.has("add a/two false") })
	// Half a second, were this machine idle; a pause that goes on doubling takes half a minute by now.
	if d := time.Since(back); d > 10*time.Second {
		t.Errorf("picked up after %v", d)
	}
}

func TestAPauseIsNoLongerThanTheServerAsksFor(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	for name, test := range map[string]struct {
		err        error
		asks, want time.Duration
	}{
		"no error":             {nil, 20 * time.Second, 20 * time.Second},
		"gets ready":           {apierrors.NewTooManyRequests("storage is (re)initializing", 1), 20 * time.Second, time.Second},
		"is sooner as it is":   {apierrors.NewTooManyRequests("too much to do", 60), 20 * time.Second, 20 * time.Second},
		"does not say":         {apierrors.NewTooManyRequestsError("too much to do"), 20 * time.Second, 20 * time.Second},
		"is not there":         {apierrors.NewNotFound(secrets, ""), 20 * time.Second, pauseMissing},
		"is broken":            {apierrors.NewInternalError(errors.New("etcd")), 20 * time.Second, 20 * time.Second},
		"is broken for a time": {apierrors.NewServerTimeout(secrets, "list", 3), 20 * time.Second, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			f := &feed{}
			if test.err != nil {
				f.fault.watch.Store(&WatchError{Verb: "watch", Err: test.err})
			}
			if got := f.pause(test.asks); got != test.want {
				t.Errorf("pauses for %v, want %v", got, test.want)
			}
		})
	}
}

// A server that is gone for longer is not hammered: the pauses between two attempts grow.
func TestAttemptsAreSpread(t *testing.T) {
	s := newTestServer(t)
	s.broken = http.StatusInternalServerError
	c := startCache(t, s, Options{})
	if _, err := c.GetInformer(t.Context(), &corev1.ConfigMap{}, BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond) // what is not to happen has no event
	if n := s.count("configmaps"); n > 20 {
		t.Errorf("%d requests in 1.5 s", n)
	}
	eventually(t, "another attempt", func() bool { return s.count("configmaps") > 2 })
}
