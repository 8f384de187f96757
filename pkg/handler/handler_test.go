package handler

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// added is what a handler put into a queue, keys by priority.
type added map[int][]string

// heard calls f with a queue and returns what it added.
func heard(f func(q workqueue.TypedRateLimitingInterface[reconcile.Request])) added {
	q := priorityqueue.New[reconcile.Request]("")
	defer q.ShutDown()
	f(q)
	got := added{}
	for q.Len() > 0 {
		r, priority, _ := q.GetWithPriority()
		got[priority] = append(got[priority], r.String())
		q.Done(r)
	}
	return got
}

func pod(name, version string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version, OwnerReferences: owners}}
}

func owner(apiVersion, kind, name string, isController bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, Controller: &isController}
}

func named(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

// handle hands all of h's events about these two states of an object to a queue each.
func handle(h EventHandler, before, after client.Object) map[string]added {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	ctx := context.Background()
	return map[string]added{
		"create": heard(func(q queue) { h.Create(ctx, event.CreateEvent{Object: after}, q) }),
		"list":   heard(func(q queue) { h.Create(ctx, event.CreateEvent{Object: after, IsInInitialList: true}, q) }),
		"update": heard(func(q queue) { h.Update(ctx, event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q) }),
		"resync": heard(func(q queue) { h.Update(ctx, event.UpdateEvent{ObjectOld: after, ObjectNew: after}, q) }),
		"delete": heard(func(q queue) { h.Delete(ctx, event.DeleteEvent{Object: after}, q) }),
		"other":  heard(func(q queue) { h.Generic(ctx, event.GenericEvent{Object: after}, q) }),
	}
}

// each is what is to be expected of a handler that asks for these keys because of any event, and for those
// because of an update.
func each(keys []string, updated []string) map[string]added {
	return map[string]added{
		"create": {0: keys}, "list": {LowPriority: keys},
		"update": {0: updated}, "resync": {LowPriority: keys},
		"delete": {0: keys}, "other": {0: keys},
	}
}

func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}, meta.RESTScopeNamespace)
	m.Add(schema.GroupVersionKind{Version: "v1", Kind: "Node"}, meta.RESTScopeRoot)
	return m
}

func rs(version, name string, isController bool) metav1.OwnerReference {
	return owner("apps/"+version, "ReplicaSet", name, isController)
}

func replicaSet() client.Object {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"})
	return o
}

func TestHandlersAskForTheRightObjectsWithTheRightPriority(t *testing.T) {
	enqueue := func(ctx context.Context, o client.Object, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		q.Add(named(o.GetName()))
	}
	funcs := Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, e.ObjectNew, q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, e.Object, q)
		},
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueue(ctx, e.Object, q)
		},
	}
	tests := map[string]struct {
		h             EventHandler
		before, after client.Object
		want          map[string]added
	}{
		"for the object": {
			&EnqueueRequestForObject{}, pod("web", "1"), pod("web", "2"),
			each([]string{"ns/web"}, []string{"ns/web"}),
		},
		"for an object in no namespace": {
			&EnqueueRequestForObject{},
			&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "1"}}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}},
			each([]string{"/n"}, []string{"/n"}),
		},
		"functions": {
			funcs, pod("web", "1"), pod("web", "2"),
			each([]string{"ns/web"}, []string{"ns/web"}),
		},
		"no functions": {
			Funcs{}, pod("web", "1"), pod("web", "2"),
			map[string]added{"create": {}, "list": {}, "update": {}, "resync": {}, "delete": {}, "other": {}},
		},
		"mapped, each request once, of both states": {
			EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
				return []reconcile.Request{named("all"), named("all"), named(o.GetResourceVersion())}
			}),
			pod("web", "1"), pod("web", "2"),
			each([]string{"ns/all", "ns/2"}, []string{"ns/all", "ns/1", "ns/2"}),
		},
		"a handler of somebody else": {
			WithLowPriorityWhenUnchanged(foreign()), pod("web", "1"), pod("web", "2"),
			each([]string{"ns/web"}, []string{"ns/web"}),
		},
		"for the controlling owner, of any version": {
			EnqueueRequestForOwner(clientgoscheme.Scheme, mapper(), replicaSet(), OnlyControllerOwner()),
			pod("web", "1", rs("v1", "old", true)),
			pod("web", "2", rs("v1beta1", "new", true), rs("v1", "second", false)),
			each([]string{"ns/new"}, []string{"ns/old", "ns/new"}),
		},
		"for every owner of the kind": {
			EnqueueRequestForOwner(clientgoscheme.Scheme, mapper(), replicaSet()),
			pod("web", "1", rs("v1", "a", true)),
			pod("web", "2", rs("v1", "a", true), owner("v1", "ReplicaSet", "other-group", false),
				owner("apps/v1", "Deployment", "other-kind", false), owner("a/b/c", "ReplicaSet", "bad", false), rs("v1", "b", false)),
			each([]string{"ns/a", "ns/b"}, []string{"ns/a", "ns/b"}),
		},
		"for an owner in no namespace": {
			EnqueueRequestForOwner(clientgoscheme.Scheme, mapper(), &corev1.Node{}),
			pod("web", "1"), pod("web", "2", owner("v1", "Node", "n", false)),
			each([]string{"/n"}, []string{"/n"}),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, handle(tt.h, tt.before, tt.after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// foreign is a handler that adds in all ways that a plain queue has, and knows nothing of priorities.
type foreignHandler struct{ EventHandler }

func foreign() EventHandler { return foreignHandler{&EnqueueRequestForObject{}} }

func (foreignHandler) Create(_ context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	q.Add(named(e.Object.GetName()))
}

func (foreignHandler) Update(_ context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	q.AddAfter(named(e.ObjectNew.GetName()), -time.Second)
}

func TestLoweredQueueKeepsAPriorityThatIsSet(t *testing.T) {
	q := priorityqueue.New[string]("")
	defer q.ShutDown()
	seven := 7
	lowered := withPriority[string](q, &low).(priorityqueue.PriorityQueue[string])
	lowered.AddWithOpts(priorityqueue.AddOpts{Priority: &seven}, "set")
	lowered.AddWithOpts(priorityqueue.AddOpts{}, "unset")
	lowered.AddRateLimited("limited")
	want := map[string]int{"set": 7, "unset": LowPriority, "limited": LowPriority}
	got := map[string]int{}
	for range 3 {
		key, priority, _ := q.GetWithPriority()
		got[key] = priority
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// lastAdd is a stand-in for a queue that can do nothing but AddWithOpts.
type lastAdd struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	opts priorityqueue.AddOpts
}

func (q *lastAdd) AddWithOpts(o priorityqueue.AddOpts, _ ...reconcile.Request) { q.opts = o }

func TestAPriorityQueueIsAddedToInOneWayWhateverTheHandlerCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		add  func(q workqueue.TypedRateLimitingInterface[reconcile.Request])
		want priorityqueue.AddOpts
	}{
		"Add":            {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) { q.Add(named("w")) }, priorityqueue.AddOpts{}},
		"AddAfter":       {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) { q.AddAfter(named("w"), 5) }, priorityqueue.AddOpts{After: 5}},
		"AddRateLimited": {func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) { q.AddRateLimited(named("w")) }, priorityqueue.AddOpts{RateLimited: true}},
	} {
		funcs := Funcs{
			CreateFunc: func(_ context.Context, _ event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				tt.add(q)
			},
			UpdateFunc: func(_ context.Context, _ event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				tt.add(q)
			},
		}
		for kind, h := range map[string]EventHandler{"functions": funcs, "lowered": WithLowPriorityWhenUnchanged(funcs)} {
			q, want := &lastAdd{}, tt.want
			h.Create(t.Context(), event.CreateEvent{Object: pod("web", "1")}, q)
			if diff := cmp.Diff(want, q.opts); diff != "" {
				t.Errorf("%s of %s for a new object (-want +got):\n%s", name, kind, diff)
			}
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: pod("web", "1"), ObjectNew: pod("web", "2")}, q)
			if diff := cmp.Diff(want, q.opts); diff != "" {
				t.Errorf("%s of %s for a changed object (-want +got):\n%s", name, kind, diff)
			}
			want.Priority = &low
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: pod("web", "1"), ObjectNew: pod("web", "1")}, q)
			if diff := cmp.Diff(want, q.opts); diff != "" {
				t.Errorf("%s of %s for an unchanged object (-want +got):\n%s", name, kind, diff)
			}
		}
	}
}

func TestQueueWithoutPrioritiesIsUsedAsItIs(t *testing.T) {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedItemBasedRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	(&EnqueueRequestForObject{}).Create(t.Context(), event.CreateEvent{Object: pod("web", "1"), IsInInitialList: true}, q)
	if got, _ := q.Get(); got != named("web") {
		t.Errorf("got %v", got)
	}
}

func TestEventsWithoutAnObjectAskForNothing(t *testing.T) {
	got := heard(func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		for _, h := range []EventHandler{
			&EnqueueRequestForObject{},
			EnqueueRequestForOwner(clientgoscheme.Scheme, mapper(), replicaSet()),
		} {
			h.Create(t.Context(), event.CreateEvent{}, q)
			h.Update(t.Context(), event.UpdateEvent{}, q)
			h.Delete(t.Context(), event.DeleteEvent{Object: (*corev1.Pod)(nil)}, q)
			h.Generic(t.Context(), event.GenericEvent{}, q)
		}
	})
	if len(got) != 0 {
		t.Errorf("got %v", got)
	}
	got = heard(func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		(&EnqueueRequestForObject{}).Update(t.Context(), event.UpdateEvent{ObjectOld: pod("web", "1")}, q)
	})
	if diff := cmp.Diff(added{0: {"ns/web"}}, got); diff != "" {
		t.Errorf("an update whose new state is missing (-want +got):\n%s", diff)
	}
}

func TestManyMappedRequestsAreAddedOnce(t *testing.T) {
	var many []reconcile.Request
	for i := range 3 * fewRequests {
		many = append(many, named(strconv.Itoa(i%(2*fewRequests))))
	}
	h := EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return many })
	counted := &counting{}
	h.Update(t.Context(), event.UpdateEvent{ObjectOld: pod("a", "1"), ObjectNew: pod("a", "2")}, counted)
	if counted.adds != 2*fewRequests {
		t.Errorf("%d adds, want %d", counted.adds, 2*fewRequests)
	}
}

type counting struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	adds int
}

func (c *counting) Add(reconcile.Request) { c.adds++ }

func TestOwnerOfAKindThatIsNotServedYetIsSkippedUntilItIs(t *testing.T) {
	m := meta.NewDefaultRESTMapper(nil)
	h := EnqueueRequestForOwner(clientgoscheme.Scheme, m, replicaSet())
	e := event.CreateEvent{Object: pod("web", "1", rs("v1", "a", true))}
	create := func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) { h.Create(t.Context(), e, q) }
	if got := heard(create); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	m.Add(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}, meta.RESTScopeNamespace)
	if diff := cmp.Diff(added{0: {"ns/a"}}, heard(create)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// unsteady is a mapper whose first answers are errors, as those of one that cannot reach the API server.
type unsteady struct {
	meta.RESTMapper
	failures int
}

func (u *unsteady) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if u.failures > 0 {
		u.failures--
		return nil, errors.New("connection refused")
	}
	return u.RESTMapper.RESTMapping(gk, versions...)
}

func TestNoEventIsLostWhileTheScopeOfOwnersCannotBeAskedFor(t *testing.T) {
	e := event.DeleteEvent{Object: pod("web", "1", rs("v1", "a", true))}
	for name, test := range map[string]struct {
		failures int
		within   time.Duration // that the event's context ends
		want     added
	}{
		"for a moment": {failures: 5, within: time.Hour, want: added{0: {"ns/a"}}},
		"for long":     {failures: 1 << 30, within: time.Hour, want: added{}},
		"to the end":   {failures: 1 << 30, within: time.Second, want: added{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := EnqueueRequestForOwner(clientgoscheme.Scheme, &unsteady{mapper(), test.failures}, replicaSet())
				ctx, cancel := context.WithTimeout(t.Context(), test.within)
				defer cancel()
				begin := time.Now()
				got := heard(func(q workqueue.TypedRateLimitingInterface[reconcile.Request]) { h.Delete(ctx, e, q) })
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if took := time.Since(begin); took > min(test.within, 2*ownerPatience) {
					t.Errorf("the events that follow had to wait for %s", took)
				}
			})
		})
	}
}

func TestOwnerTypeThatTheSchemeDoesNotKnowPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	EnqueueRequestForOwner(clientgoscheme.Scheme, mapper(), &unknown{})
}

type unknown struct{ corev1.Pod }
