package cache

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/client"
)

func TestAnInformerOfOnesOwnFeedsTheCache(t *testing.T) {
	ctx := t.Context()
	s := newTestServer(t)
	s.put("configmaps", configMap("a", "one", map[string]string{"app": "x"}, "1"))
	var made atomic.Int32
	var theirs atomic.Pointer[toolscache.SharedIndexInformer]
	c := startCache(t, s, Options{NewInformer: func(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		made.Add(1)
		i := toolscache.NewSharedIndexInformer(lw, example, resync, indexers)
		theirs.Store(&i)
		return i
	}})
	_, _, rec := useInformer(t, c, &corev1.ConfigMap{})
	if !rec.has("add a/one true") {
		t.Errorf("at first: %v", rec.all())
	}
	lent, err := Lend[*corev1.ConfigMap](ctx, c, client.ObjectKey{Namespace: "a", Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if held, _, _ := (*theirs.Load()).GetStore().GetByKey("a/one"); held == any(lent) {
		t.Error("the cache shares an object with the informer")
	}
	s.put("configmaps", configMap("a", "one", nil, "2"))
	s.put("configmaps", configMap("a", "two", nil, "2"))
	eventually(t, "the update", func() bool { return rec.has("update a/one") && rec.has("add a/two false") })
	s.compact()
	s.remove("configmaps", "a", "one")
	eventually(t, "the deletion", func() bool { return rec.has("delete a/one") })

	own := configMap("a", "two", nil, "own")
	var cur corev1.ConfigMap
	if err := c.Get(ctx, client.ObjectKeyFromObject(own), &cur); err != nil {
		t.Fatal(err)
	}
	own.UID, own.ResourceVersion = cur.UID, "100000"
	c.(*stores).ObserveWrite(client.Written{GVK: configMapKind, Object: own})
	if err := c.Get(ctx, client.ObjectKeyFromObject(own), &cur); err != nil || cur.Data["data"] != "own" {
		t.Errorf("an own write: %v, %v", cur.Data, err)
	}
	// A fuller form takes another informer; the one before has ended.
	before := *theirs.Load()
	if err := c.Get(ctx, client.ObjectKeyFromObject(own), inForm(t, formFull, configMap("", "", nil, ""))); err != nil {
		t.Fatal(err)
	}
	if made.Load() != 2 || !before.IsStopped() {
		t.Errorf("%d informers, the first stopped: %t", made.Load(), before.IsStopped())
	}
	s.awaitWatches(t, 1)
	if rec.bad != nil {
		t.Errorf("handler: %v", rec.bad)
	}
}

// An event that comes before the list is complete is part of it.
func TestARelayTakesAllUntilItIsFull(t *testing.T) {
	b := newBench(t, Config{}, formTyped)
	r := &relay{sink: &sink{feed: b.f, plan: b.s.plan}, before: map[client.ObjectKey]client.Object{}}
	for i := range 3 {
		r.OnAdd(thing(fmt.Sprint(i), fmt.Sprint(i), fmt.Sprint(10+i)), true)
	}
	r.OnUpdate(nil, thing("1", "1", "20"))
	r.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "a/2", Obj: thing("2", "2", "12")})
	r.fill()
	r.OnDelete(thing("0", "0", "21"))
	r.OnAdd("not an object", false)
	if e := b.s.get(client.ObjectKey{Namespace: "a", Name: "1"}); b.s.size != 1 || e == nil || e.rv != 20 || b.f.floor != 20 {
		t.Errorf("%d objects, %+v, floor %d", b.s.size, e, b.f.floor)
	}
}
