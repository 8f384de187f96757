package cache

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/operon-dev/operon/pkg/client"
)

// What a copy of a pod allocates is not the cache's doing; what else a read allocates is.
func podAllocations(pod *corev1.Pod) float64 {
	var into corev1.Pod
	return testing.AllocsPerRun(100, func() { pod.DeepCopyInto(&into) })
}

// Times are too noisy for a test. Allocations are not, and say when something is looked for, collected or copied that was not before.
func TestReadsAllocateNoMoreThanTheirCeilings(t *testing.T) {
	const pods = 2000
	c := filledPods(t, pods, Options{})
	ctx := t.Context()
	one := benchPod(1234)
	key := client.ObjectKeyFromObject(one)
	one.ManagedFields = nil
	copied := podAllocations(one)
	const found = pods / benchOwners
	label := client.MatchingLabels{"app.kubernetes.io/name": one.Labels["app.kubernetes.io/name"]}
	owner := OwnedBy(one.OwnerReferences[0].UID)

	var pod corev1.Pod
	list := func(want int, opts ...client.ListOption) func() error {
		return func() error {
			var list corev1.PodList
			err := c.List(ctx, &list, opts...)
			if err == nil && len(list.Items) != want {
				t.Errorf("%d pods, want %d", len(list.Items), want)
			}
			return err
		}
	}
	lend := func(want int, opts ...client.ListOption) func() error {
		return func() error {
			lent, err := All[*corev1.Pod](ctx, c, opts...)
			if err != nil {
				return err
			}
			n := 0
			for range lent {
				n++
			}
			if n != want {
				t.Errorf("%d pods, want %d", n, want)
			}
			return nil
		}
	}
	for name, test := range map[string]struct {
		read    func() error
		ceiling float64
	}{
		"Get":               {func() error { return c.Get(ctx, key, &pod) }, copied + 2},
		"Get, shared":       {func() error { return c.Get(ctx, key, &pod, client.UnsafeDisableDeepCopy) }, 2},
		"Lend":              {func() error { _, err := Lend[*corev1.Pod](ctx, c, key); return err }, 0},
		"List by label":     {list(found, label), found*copied + 40},
		"List by owner":     {list(found, owner), found*copied + 40},
		"List by namespace": {list(pods/10, client.InNamespace(one.Namespace)), pods/10*copied + 40},
		"All by label":      {lend(found, label), 16},
		"All by owner":      {lend(found, owner), 12},
		"All by namespace":  {lend(pods/10, client.InNamespace(one.Namespace)), 8},
		"All":               {lend(pods), 8},
	} {
		t.Run(name, func(t *testing.T) {
			got := testing.AllocsPerRun(20, func() {
				if err := test.read(); err != nil {
					t.Fatal(err)
				}
			})
			t.Logf("%v allocations", got)
			if got > test.ceiling {
				t.Errorf("%v allocations, the ceiling is %v; a copy of one pod takes %v", got, test.ceiling, copied)
			}
		})
	}
}
