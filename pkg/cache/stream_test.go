package cache

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/operon-dev/operon/pkg/client"
)

// The Reflector keeps all of a streamed list until its end. What it keeps is to take no more memory than the cache will.
func TestAStreamedListIsCollectedAsEntriesThatShareAndCarryNoManagedFields(t *testing.T) {
	c := filledPods(t, 0, Options{})
	p, _, err := c.placeOf(&corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := c.claim(p, formTyped, toHandle)
	if err != nil {
		t.Fatal(err)
	}
	sink := &sink{feed: s.feeds()[0], plan: s.currentPlan()}
	transform := sink.Transformer()
	var collected []any
	for _, i := range []int{0, benchOwners} { // two pods of one owner
		kept, err := transform(benchPod(i))
		if err != nil {
			t.Fatal(err)
		}
		e, ok := kept.(*entry)
		if !ok {
			t.Fatalf("a %T is kept", kept)
		}
		if e.meta.ManagedFields != nil {
			t.Errorf("pod %d is kept with managedFields", i)
		}
		collected = append(collected, kept)
	}
	first, second := collected[0].(*entry).obj.(*corev1.Pod), collected[1].(*entry).obj.(*corev1.Pod)
	if &first.Spec.Tolerations[0] != &second.Spec.Tolerations[0] {
		t.Error("pods of one owner are kept with tolerations of their own")
	}
	if err := sink.Replace(append(collected, any(benchPod(7))), "100000"); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, benchOwners, 7} {
		var pod corev1.Pod
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(benchPod(i)), &pod); err != nil {
			t.Error(err)
		}
	}
}

// One object that cannot be admitted is left out of a streamed list; the others are not to suffer for it.
func TestAStreamedListWithoutTheObjectThatATransformRefuses(t *testing.T) {
	refused := client.ObjectKeyFromObject(benchPod(1))
	c := filledPods(t, 0, Options{DefaultTransform: func(obj any) (any, error) {
		if pod := obj.(*corev1.Pod); client.ObjectKeyFromObject(pod) == refused {
			return nil, fmt.Errorf("not this one")
		}
		return obj, nil
	}})
	p, _, err := c.placeOf(&corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := c.claim(p, formTyped, toHandle)
	if err != nil {
		t.Fatal(err)
	}
	sink := &sink{feed: s.feeds()[0], plan: s.currentPlan()}
	transform := sink.Transformer()
	var collected []any
	for i := range 3 {
		kept, err := transform(benchPod(i))
		if err != nil {
			t.Fatalf("the Reflector would give up the list: %v", err)
		}
		collected = append(collected, kept)
	}
	if err := sink.Replace(collected, "100000"); err != nil {
		t.Fatal(err)
	}
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 2 {
		t.Errorf("%d pods are cached, want 2", len(pods.Items))
	}
}
