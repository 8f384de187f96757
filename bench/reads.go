package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	corev1 "k8s.io/api/core/v1"
	peerclient "sigs.k8s.io/controller-runtime/pkg/client"
)

// fields is to be known of all rows that copy.
const fields = "the peer also copies managedFields, which Operon does not hold by default"

// readRows measures reads of one pod, and of 1 % of the pods, from filled caches.
func readRows(ctx context.Context, s *podServer, pods []corev1.Pod, rounds int) (rows []row, err error) {
	caches, err := fillPodCaches(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, caches.close()) }()

	gets, err := getRows(ctx, caches, pods, rounds)
	if err != nil {
		return nil, err
	}
	lists, err := listRows(ctx, caches, pods, rounds)
	return append(gets, lists...), err
}

func getRows(ctx context.Context, caches *podCaches, pods []corev1.Pod, rounds int) ([]row, error) {
	const each = 4000
	keys := make([]client.ObjectKey, 0, 997)
	for i := range 997 {
		keys = append(keys, client.ObjectKeyFromObject(&pods[i*10%len(pods)]))
	}
	var into corev1.Pod
	i := 0
	next := func() client.ObjectKey { i++; return keys[i%len(keys)] }

	costs, err := interleave(rounds,
		repeat(each, func() error { return caches.ours.Get(ctx, next(), &into) }),
		repeat(each, func() error { return caches.peer.Get(ctx, next(), &into) }),
		repeat(each, func() error {
			pod, err := cache.Lend[*corev1.Pod](ctx, caches.ours, next())
			if err == nil && pod == nil {
				return errors.New("lent nothing")
			}
			return err
		}),
		repeat(each, func() error { return caches.peer.Get(ctx, next(), &into, peerclient.UnsafeDisableDeepCopy) }),
	)
	if err != nil {
		return nil, fmt.Errorf("get a cached pod: %w", err)
	}
	get, peer, lend, unsafe := costs[0], costs[1], costs[2], costs[3]
	return []row{
		{Name: "Get a cached Pod, copied", Unit: nanoseconds, Ours: times(get), Peer: times(peer), PeerName: "Get", Note: fields},
		{Name: "Get a cached Pod, copied", Unit: allocations, Ours: allocs(get), Peer: allocs(peer), PeerName: "Get"},
		row{Name: "Lend a cached Pod", Unit: nanoseconds, Ours: times(lend), Peer: times(peer), PeerName: "Get"}.wants(atMostRatio(0.05)),
		row{Name: "Lend a cached Pod", Unit: allocations, Ours: allocs(lend), Peer: allocs(peer), PeerName: "Get"}.wants(atMost(0)),
		{Name: "Lend a cached Pod", Unit: nanoseconds, Ours: times(lend), Peer: times(unsafe), PeerName: "Get, UnsafeDisableDeepCopy"},
	}, nil
}

func listRows(ctx context.Context, caches *podCaches, pods []corev1.Pod, rounds int) ([]row, error) {
	const each = 20
	app := len(pods) / podsPerApp / 2
	labels := map[string]string{"app.kubernetes.io/name": appName(app)}
	owner := appOwner(app)

	costs, err := interleave(rounds,
		repeat(each, caches.listOurs(ctx, client.MatchingLabels(labels))),
		repeat(each, caches.listPeer(ctx, peerclient.MatchingLabels(labels))),
		repeat(each, caches.rangeOurs(ctx, client.MatchingLabels(labels))),
		repeat(each, caches.listPeer(ctx, peerclient.MatchingLabels(labels), peerclient.UnsafeDisableDeepCopy)),
		repeat(each, caches.listOurs(ctx, cache.OwnedBy(owner))),
		repeat(each, caches.listPeer(ctx, peerclient.MatchingFields{ownerField: string(owner)})),
		repeat(each, caches.rangeOurs(ctx, cache.OwnedBy(owner))),
		repeat(each, caches.listPeer(ctx, peerclient.MatchingFields{ownerField: string(owner)}, peerclient.UnsafeDisableDeepCopy)),
	)
	if err != nil {
		return nil, fmt.Errorf("list cached pods: %w", err)
	}
	const (
		indexed = "the peer has an index of its own (IndexField), as its documentation recommends"
		lent    = "shared objects on both sides"
	)
	return []row{
		row{Name: "List 1 % of Pods by label, copied", Unit: nanoseconds, Ours: times(costs[0]), Peer: times(costs[1]), PeerName: "List", Note: fields}.wants(atMostRatio(0.1)),
		{Name: "List 1 % of Pods by label, lent", Unit: nanoseconds, Ours: times(costs[2]), Peer: times(costs[3]), PeerName: "List, UnsafeDisableDeepCopy", Note: lent},
		row{Name: "List 1 % of Pods by owner, copied", Unit: nanoseconds, Ours: times(costs[4]), Peer: times(costs[5]), PeerName: "List, field index", Note: indexed + "; " + fields}.wants(atMostRatio(0.1)),
		{Name: "List 1 % of Pods by owner, lent", Unit: nanoseconds, Ours: times(costs[6]), Peer: times(costs[7]), PeerName: "List, field index, UnsafeDisableDeepCopy", Note: indexed + "; " + lent},
	}, nil
}
