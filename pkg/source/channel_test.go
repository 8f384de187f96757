package source

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/predicate"
	"github.com/operon-dev/operon/pkg/reconcile"
)

type requestOf = reconcile.Request

type podEvent = event.TypedGenericEvent[*corev1.Pod]

func take(q priorityqueue.PriorityQueue[string]) []string {
	var all []string
	for q.Len() > 0 {
		key, _ := q.Get()
		all = append(all, key)
		q.Done(key)
	}
	return all
}

func enqueueName() handler.TypedEventHandler[*corev1.Pod, string] {
	return handler.TypedFuncs[*corev1.Pod, string]{
		GenericFunc: func(_ context.Context, e podEvent, q workqueue.TypedRateLimitingInterface[string]) {
			q.Add(e.Object.Name)
		},
	}
}

func TestChannelHandsEveryEventToEveryController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan podEvent)
		notB := predicate.NewTypedPredicateFuncs(func(p *corev1.Pod) bool { return p.Name != "b" })
		src := TypedChannel(events, enqueueName(), WithPredicates[*corev1.Pod, string](notB)).(TypedOwnedSource[string])
		ctx, cancel := context.WithCancel(t.Context())
		first, second := newQueue(t), newQueue(t)
		var firstGroup, secondGroup sync.WaitGroup
		for q, start := range map[priorityqueue.PriorityQueue[string]]struct {
			context.Context
			*sync.WaitGroup
		}{first: {ctx, &firstGroup}, second: {t.Context(), &secondGroup}} {
			if err := src.StartIn(start.Context, start.WaitGroup, q); err != nil {
				t.Fatal(err)
			}
		}
		send := func(names ...string) {
			for _, name := range names {
				events <- podEvent{Object: pod(name)}
			}
			synctest.Wait()
		}
		send("a", "b", "c")
		for _, q := range []priorityqueue.PriorityQueue[string]{first, second} {
			if diff := cmp.Diff([]string{"a", "c"}, take(q)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}

		cancel()
		firstGroup.Wait()
		send("d")
		if got := take(first); got != nil {
			t.Errorf("a stopped controller got %v", got)
		}
		if diff := cmp.Diff([]string{"d"}, take(second)); diff != "" {
			t.Errorf("the other controller (-want +got):\n%s", diff)
		}

		close(events)
		secondGroup.Wait()
	})
}

func TestChannelHandlesWhatWasSentBeforeItWasClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan podEvent, 10)
		var want []string
		for i := range 10 {
			want = append(want, fmt.Sprint(i))
			events <- podEvent{Object: pod(fmt.Sprint(i))}
		}
		close(events)
		q := newQueue(t)
		var group sync.WaitGroup
		src := TypedChannel(events, enqueueName(), WithBufferSize[*corev1.Pod, string](2))
		if err := src.(TypedOwnedSource[string]).StartIn(t.Context(), &group, q); err != nil {
			t.Fatal(err)
		}
		group.Wait()
		if diff := cmp.Diff(want, take(q)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestChannelStopsAlthoughItsHandlerIsBehindAndStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := make(chan podEvent)
		blocked, release := make(chan struct{}, 1), make(chan struct{})
		h := handler.TypedFuncs[*corev1.Pod, string]{
			GenericFunc: func(context.Context, podEvent, workqueue.TypedRateLimitingInterface[string]) {
				blocked <- struct{}{}
				<-release
			},
		}
		src := TypedChannel(events, h, WithBufferSize[*corev1.Pod, string](0)).(TypedOwnedSource[string])
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		if err := src.StartIn(ctx, &group, newQueue(t)); err != nil {
			t.Fatal(err)
		}
		events <- podEvent{Object: pod("handled")}
		<-blocked
		events <- podEvent{Object: pod("stuck in the pump")}
		cancel()
		close(release)
		group.Wait()

		if err := src.StartIn(t.Context(), &group, newQueue(t)); err != nil {
			t.Fatal(err)
		}
		events <- podEvent{Object: pod("again")}
		<-blocked
		close(events)
		group.Wait()
	})
}
