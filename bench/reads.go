package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/bench/served"
	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	peerclient "sigs.k8s.io/controller-runtime/pkg/client"
)

// step is how long a contender runs in a round.
const step = 10 * time.Millisecond

// readsOf measures typed reads, and what the caches take, with n pods.
func readsOf(n int) func(context.Context, *environment) ([]report.Row, error) {
	return func(ctx context.Context, env *environment) (rows []report.Row, err error) {
		s := served.NewServer(served.Pods(n))
		defer s.Close()
		peak := env.plan(3, 1)
		if n > 10_000 {
			peak = env.plan(1, 1) // it hardly varies, and takes a while
		}
		peaks, err := peakRows(ctx, s, typedPods, peak.oneOf(3))
		if err != nil {
			return nil, err
		}
		c, err := fillPodCaches(ctx, s, typedPods, n == 10_000)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, c.close()) }()
		p := env.plan(7, 3)
		if n > 10_000 {
			p = env.plan(3, 3) // a List of all takes seconds
		}
		rows, err = typedReadRows(ctx, c, p)
		heap := plan{planned: 1}.of(report.Row{
			Name: "Heap of a cache of Pods", Size: n, Unit: report.Bytes, Ours: []float64{c.mine.heap}, Peer: []float64{c.theirs.heap}, PeerName: "default",
			Note: "with the indexes of the other rows",
		})
		return slices.Concat(rows, heap, peaks), err
	}
}

func typedReadRows(ctx context.Context, c *podCaches, p plan) ([]report.Row, error) {
	const inNamespace = served.PodsPerApp * served.AppsInNamespace
	const onNode = served.PodsPerApp / served.NodesOfAnApp
	namespace, owner := served.AppNamespace(c.app), served.AppOwner(c.app)
	labels := map[string]string{nameLabel: served.AppName(c.app)}
	node, index := served.PodNode(c.some), peerclient.MatchingFields{ownerField: string(owner)}
	labelIndex := peerclient.MatchingFields{labelField: served.AppName(c.app)}

	type named struct {
		name string
		op   func() error
	}
	contenders := []named{
		{"get", c.getOurs(ctx)},
		{"peer get", c.getPeer(ctx, c.peer)},
		{"lend", c.lend(ctx)},
		{"peer get unsafe", c.getPeer(ctx, c.peer, peerclient.UnsafeDisableDeepCopy)},

		{"all", c.listOurs(ctx, c.count)},
		{"peer all", c.listPeer(ctx, c.peer, c.count)},
		{"lend all", c.lendAll(ctx, c.count)},
		{"peer all unsafe", c.walkPeer(ctx, c.count)},

		{"namespace", c.listOurs(ctx, inNamespace, client.InNamespace(namespace))},
		{"peer namespace", c.listPeer(ctx, c.peer, inNamespace, peerclient.InNamespace(namespace))},
		{"lend namespace", c.lendAll(ctx, inNamespace, client.InNamespace(namespace))},
		{"peer namespace unsafe", c.walkPeer(ctx, inNamespace, peerclient.InNamespace(namespace))},

		{"label", c.listOurs(ctx, served.PodsPerApp, client.MatchingLabels(labels))},
		{"peer label", c.listPeer(ctx, c.peer, served.PodsPerApp, peerclient.MatchingLabels(labels))},
		{"peer label index", c.listPeer(ctx, c.peer, served.PodsPerApp, labelIndex)},
		{"lend label", c.lendAll(ctx, served.PodsPerApp, client.MatchingLabels(labels))},
		{"peer label index unsafe", c.walkPeer(ctx, served.PodsPerApp, labelIndex)},
		{"peer label unsafe", c.walkPeer(ctx, served.PodsPerApp, peerclient.MatchingLabels(labels))},

		{"owner", c.listOurs(ctx, served.PodsPerApp, cache.OwnedBy(owner))},
		{"peer owner scan", c.scanPeer(ctx, c.app)},
		{"peer owner index", c.listPeer(ctx, c.peer, served.PodsPerApp, index)},
		{"lend owner", c.lendAll(ctx, served.PodsPerApp, cache.OwnedBy(owner))},
		{"peer owner index unsafe", c.walkPeer(ctx, served.PodsPerApp, index)},

		{"field", c.listOurs(ctx, onNode, client.MatchingFields{nodeField: node})},
		{"peer field", c.listPeer(ctx, c.peer, onNode, peerclient.MatchingFields{nodeField: node})},
		{"lend field", c.lendAll(ctx, onNode, client.MatchingFields{nodeField: node})},
		{"peer field unsafe", c.walkPeer(ctx, onNode, peerclient.MatchingFields{nodeField: node})},
	}
	if c.stripped != nil {
		contenders = append(contenders,
			named{"stripped get", c.getPeer(ctx, c.stripped)},
			named{"stripped all", c.listPeer(ctx, c.stripped, c.count)},
			named{"stripped namespace", c.listPeer(ctx, c.stripped, inNamespace, peerclient.InNamespace(namespace))},
			named{"stripped label", c.listPeer(ctx, c.stripped, served.PodsPerApp, peerclient.MatchingLabels(labels))},
		)
	}
	var all contest
	for _, contender := range contenders {
		all.add(contender.name, lasting(step, contender.op))
	}
	costs, err := all.run(p)
	if err != nil {
		return nil, fmt.Errorf("read cached pods: %w", err)
	}

	const (
		lent     = "the peer copies; what Operon lends is shared, and only to be read"
		fields   = "the peer also copies managedFields, which Operon does not hold by default"
		indexed  = "the peer has an index of its own (IndexField), as its documentation recommends"
		scan     = "the peer has no index of owners unless the user makes one: all 500 Pods of the namespace are listed, and searched"
		labelled = "the peer has an index of this label (IndexField), which the user makes; Operon has those of all labels"
		without  = "neither holds managedFields"
		both     = "both have the index, by IndexField"
		shared   = "shared objects on both sides, one field of each is read"
	)
	atTen := func(t report.Target) *report.Target {
		if c.count == 10_000 {
			return &t
		}
		return nil
	}
	table := []comparison{
		{name: "Get a cached Pod, copied", ours: "get", peer: "peer get", peerName: "Get", note: fields},
		{name: "Lend a cached Pod", ours: "lend", peer: "peer get", peerName: "Get", note: lent, target: atTen(report.AtMostRatio(0.05)), allocs: atTen(report.AtMost(0))},
		{name: "Lend a cached Pod", ours: "lend", peer: "peer get unsafe", peerName: "Get, UnsafeDisableDeepCopy", note: "shared objects on both sides"},
		{name: "List all Pods, copied", ours: "all", peer: "peer all", peerName: "List", note: fields},
		{name: "List all Pods, lent", ours: "lend all", peer: "peer all unsafe", peerName: "List, UnsafeDisableDeepCopy", note: shared},
		{name: "List 500 Pods by namespace, copied", ours: "namespace", peer: "peer namespace", peerName: "List", note: fields},
		{name: "List 500 Pods by namespace, lent", ours: "lend namespace", peer: "peer namespace unsafe", peerName: "List, UnsafeDisableDeepCopy", note: shared},
		{name: "List 100 Pods by label, copied", ours: "label", peer: "peer label", peerName: "List", note: fields, target: atTen(report.AtMostRatio(0.1))},
		{name: "List 100 Pods by label, copied", ours: "label", peer: "peer label index", peerName: "List, field index", note: labelled + "; " + fields},
		{name: "List 100 Pods by label, lent", ours: "lend label", peer: "peer label index unsafe", peerName: "List, field index, UnsafeDisableDeepCopy", note: labelled + "; " + shared},
		{name: "List 100 Pods by label, lent", ours: "lend label", peer: "peer label unsafe", peerName: "List, UnsafeDisableDeepCopy", note: shared},
		{name: "List 100 Pods by owner, copied", ours: "owner", peer: "peer owner scan", peerName: "List in the namespace, filtered", note: scan, target: atTen(report.AtMostRatio(0.1))},
		{name: "List 100 Pods by owner, copied", ours: "owner", peer: "peer owner index", peerName: "List, field index", note: indexed + "; " + fields, target: atTen(report.AtMostRatio(0.1))},
		{name: "List 100 Pods by owner, lent", ours: "lend owner", peer: "peer owner index unsafe", peerName: "List, field index, UnsafeDisableDeepCopy", note: indexed + "; " + shared},
		{name: "List 20 Pods by field, copied", ours: "field", peer: "peer field", peerName: "List, field index", note: both + "; " + fields},
		{name: "List 20 Pods by field, lent", ours: "lend field", peer: "peer field unsafe", peerName: "List, field index, UnsafeDisableDeepCopy", note: both + "; " + shared},
	}
	if c.stripped != nil {
		const strip = "TransformStripManagedFields"
		table = append(table,
			comparison{name: "Get a cached Pod, copied", ours: "get", peer: "stripped get", peerName: "Get, " + strip, note: without},
			comparison{name: "List all Pods, copied", ours: "all", peer: "stripped all", peerName: "List, " + strip, note: without},
			comparison{name: "List 500 Pods by namespace, copied", ours: "namespace", peer: "stripped namespace", peerName: "List, " + strip, note: without},
			comparison{name: "List 100 Pods by label, copied", ours: "label", peer: "stripped label", peerName: "List, " + strip, note: without},
		)
	}
	var rows []report.Row
	for _, t := range table {
		rows = append(rows, t.rows(c.count, costs)...)
	}
	return p.of(rows...), nil
}

// comparison is two contenders of a contest, by name, and what the rows that they make say.
type comparison struct {
	name, ours, peer, peerName, note string
	target, allocs                   *report.Target // for the time, and for the allocations
}

// rows returns the rows for time, bytes and allocations.
func (c comparison) rows(size int, costs map[string][]cost) []report.Row {
	mine, theirs := costs[c.ours], costs[c.peer]
	return []report.Row{
		{Name: c.name, Size: size, Unit: report.Nanoseconds, Ours: times(mine), Peer: times(theirs), PeerName: c.peerName, Note: c.note, Target: c.target},
		{Name: c.name, Size: size, Unit: report.Bytes, Ours: bytesIn(mine), Peer: bytesIn(theirs), PeerName: c.peerName},
		{Name: c.name, Size: size, Unit: report.Allocations, Ours: allocs(mine), Peer: allocs(theirs), PeerName: c.peerName, Target: c.allocs},
	}
}

// formRows measures the main reads in the forms that have no Go type of the kind.
func formRows(ctx context.Context, env *environment) ([]report.Row, error) {
	const n = 2_000 // filling a cache with unstructured objects takes its time
	var rows []report.Row
	forms := []form{unstructuredOf(served.Pods(n).GVK), metadataOf(served.Pods(n).GVK)}
	for i, f := range forms {
		got, err := rowsInForm(ctx, served.Pods(n), f, env.plan(7, 3).oneOf(len(forms)-i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

func rowsInForm(ctx context.Context, r served.Set, f form, p plan) (rows []report.Row, err error) {
	s := served.NewServer(r)
	defer s.Close()
	c, err := fillPodCaches(ctx, s, f, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	labels := map[string]string{nameLabel: served.AppName(c.app)}
	var all contest
	all.add("get", lasting(step, c.getOurs(ctx)))
	all.add("peer get", lasting(step, c.getPeer(ctx, c.peer)))
	all.add("label", lasting(step, c.listOurs(ctx, served.PodsPerApp, client.MatchingLabels(labels))))
	all.add("peer label", lasting(step, c.listPeer(ctx, c.peer, served.PodsPerApp, peerclient.MatchingLabels(labels))))
	all.add("label unsafe", lasting(step, c.listOurs(ctx, served.PodsPerApp, client.MatchingLabels(labels), client.UnsafeDisableDeepCopy)))
	all.add("peer label unsafe", lasting(step, c.listPeer(ctx, c.peer, served.PodsPerApp, peerclient.MatchingLabels(labels), peerclient.UnsafeDisableDeepCopy)))
	costs, err := all.run(p)
	if err != nil {
		return nil, err
	}
	for _, t := range []comparison{
		{name: "Get, copied: " + f.name, ours: "get", peer: "peer get", peerName: "Get"},
		{name: "List 100 by label, copied: " + f.name, ours: "label", peer: "peer label", peerName: "List"},
		{name: "List 100 by label, shared: " + f.name, ours: "label unsafe", peer: "peer label unsafe", peerName: "List, UnsafeDisableDeepCopy"},
	} {
		rows = append(rows, t.rows(c.count, costs)...)
	}
	return append(p.of(rows...), plan{planned: 1}.of(report.Row{
		Name: "Heap for each cached object: " + f.name, Unit: report.Bytes, PeerName: "default",
		Ours: []float64{c.mine.heap / float64(c.count)}, Peer: []float64{c.theirs.heap / float64(c.count)},
	})...), nil
}
