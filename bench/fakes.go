package main

import (
	"context"
	"fmt"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/pkg/client/fake"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	peerfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// inFake is how many ConfigMaps a fake client holds while it is measured.
const inFake = 100

// fakeRows measures single operations on a fake client with ConfigMaps in ten namespaces.
func fakeRows(ctx context.Context, env *environment) ([]report.Row, error) {
	clients := []struct {
		library string
		objects objects
	}{
		{"operon", ourObjects{fake.NewClientBuilder().Build()}},
		{"peer", peerObjects{peerfake.NewClientBuilder().Build()}},
	}
	operations := []struct {
		name string
		do   func(context.Context, objects, *int) error
	}{
		{"get", fakeGet}, {"list 10 of 100", fakeList}, {"create", fakeCreate}, {"update", fakeUpdate}, {"patch", fakePatch}, {"apply", fakeApply},
	}
	var c contest
	for _, operation := range operations {
		for _, client := range clients {
			count := 0
			c.add(operation.name+client.library, func() (cost, error) {
				const each = 30
				took, err := repeat(each, func() error {
					count++
					return operation.do(ctx, client.objects, &count)
				})()
				if err != nil {
					return cost{}, fmt.Errorf("%s, %s: %w", client.library, operation.name, err)
				}
				return took, nil
			})
		}
	}
	for _, client := range clients {
		for i := range inFake {
			if err := client.objects.create(ctx, fakeMap(i)); err != nil {
				return nil, err
			}
		}
	}
	p := env.plan(9, 5)
	costs, err := c.run(p)
	if err != nil {
		return nil, err
	}
	var rows []report.Row
	for _, operation := range operations {
		ours, peer := costs[operation.name+"operon"], costs[operation.name+"peer"]
		note := "ConfigMaps, 100 of them in ten namespaces before creations; an update and a patch have a read before them"
		rows = append(rows,
			report.Row{Name: "Fake client: " + operation.name, Unit: report.PerSecond, Ours: rates(ours), Peer: rates(peer), PeerName: "fake client", Note: note},
			report.Row{Name: "Fake client: " + operation.name, Unit: report.Allocations, Ours: allocs(ours), Peer: allocs(peer), PeerName: "fake client", Note: note},
		)
	}
	return p.of(rows...), nil
}

func fakeKey(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: fmt.Sprintf("team-%d", i%10), Name: fmt.Sprintf("settings-%d", i)}
}

func fakeMap(i int) *corev1.ConfigMap {
	key := fakeKey(i)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{"app": "shop"}},
		Data:       map[string]string{"mode": "quiet", "limit": "12"},
	}
}

func fakeGet(ctx context.Context, o objects, n *int) error {
	return o.get(ctx, fakeKey(*n%inFake), &corev1.ConfigMap{})
}

func fakeList(ctx context.Context, o objects, n *int) error {
	var list corev1.ConfigMapList
	err := o.list(ctx, &list, fakeKey(*n%inFake).Namespace)
	if err == nil && len(list.Items) < inFake/10 {
		err = fmt.Errorf("%d ConfigMaps in a namespace", len(list.Items))
	}
	return err
}

func fakeCreate(ctx context.Context, o objects, n *int) error {
	created := fakeMap(*n)
	created.Namespace = "made" // where the lists of the other namespaces do not see it
	return o.create(ctx, created)
}

func fakeUpdate(ctx context.Context, o objects, n *int) error {
	var read corev1.ConfigMap
	if err := o.get(ctx, fakeKey(*n%inFake), &read); err != nil {
		return err
	}
	read.Data["mode"] = fmt.Sprint("update ", *n)
	return o.update(ctx, &read)
}

func fakePatch(ctx context.Context, o objects, n *int) error {
	var read corev1.ConfigMap
	if err := o.get(ctx, fakeKey(*n%inFake), &read); err != nil {
		return err
	}
	base := read.DeepCopy()
	read.Data["mode"] = fmt.Sprint("patch ", *n)
	return o.patch(ctx, &read, base)
}

func fakeApply(ctx context.Context, o objects, n *int) error {
	key := fakeKey(*n % inFake)
	return o.apply(ctx, applycorev1.ConfigMap(key.Name, key.Namespace).WithData(map[string]string{"applied": fmt.Sprint(*n)}), "bench")
}
