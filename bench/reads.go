package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	peercache "sigs.k8s.io/controller-runtime/pkg/cache"
	peerclient "sigs.k8s.io/controller-runtime/pkg/client"
)

// The indexes that the libraries are told to make: nodeField is both's. Operon has those of owners and labels from the start;
// ownerField and labelField are the peer's, made as the documentation of its IndexField shows.
const (
	nodeField  = "spec.nodeName"
	ownerField = ".metadata.controller"
	labelField = ".metadata.labels.name"
	nameLabel  = "app.kubernetes.io/name"
)

// podCaches are filled caches of both libraries over one server of pods.
type podCaches struct {
	form      form
	ours      cache.Cache
	peer      peercache.Cache
	stripped  peercache.Cache // the peer's without managedFields; nil: there is none
	mine      *filled
	theirs    *filled
	running   []*started
	count     int
	app, some int // the app that is listed, in the middle, and one of its pods
}

// fillPodCaches fills the caches, and if wanted one more of the peer's that does not hold managedFields, as Operon's does not.
func fillPodCaches(ctx context.Context, s *objectServer, f form, stripped bool) (_ *podCaches, err error) {
	if _, err := s.prepare(f.asked); err != nil {
		return nil, err
	}
	c := &podCaches{form: f, count: s.count, app: s.count / podsPerApp / 2}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	c.some = c.app * podsPerApp
	ourPods, ours, err := ourFillable(s.http.URL, s.objectSet, cache.Options{}, f)
	if err != nil {
		return nil, err
	}
	peerPods, peer, err := peerFillable(s.http.URL, s.objectSet, peercache.Options{}, f)
	if err != nil {
		return nil, err
	}
	if f.typed {
		err := errors.Join(
			ours.IndexField(ctx, &corev1.Pod{}, nodeField, func(obj client.Object) []string { return nodeOf(obj) }),
			peer.IndexField(ctx, &corev1.Pod{}, nodeField, func(obj peerclient.Object) []string { return nodeOf(obj) }),
			peer.IndexField(ctx, &corev1.Pod{}, ownerField, func(obj peerclient.Object) []string { return controllerOf(obj) }),
			peer.IndexField(ctx, &corev1.Pod{}, labelField, func(obj peerclient.Object) []string { return []string{obj.GetLabels()[nameLabel]} }),
		)
		if err != nil {
			return nil, err
		}
	}
	if c.mine, err = fill(ctx, ourPods); err != nil {
		return nil, err
	}
	c.running = append(c.running, c.mine.running)
	if c.theirs, err = fill(ctx, peerPods); err != nil {
		return nil, err
	}
	c.running = append(c.running, c.theirs.running)
	c.ours, c.peer = ours, peer
	if stripped {
		pods, peer, err := peerFillable(s.http.URL, s.objectSet, peercache.Options{DefaultTransform: peercache.TransformStripManagedFields()}, f)
		if err != nil {
			return nil, err
		}
		full, err := fill(ctx, pods)
		if err != nil {
			return nil, err
		}
		c.running, c.stripped = append(c.running, full.running), peer
	}
	s.forget()
	return c, nil
}

func (c *podCaches) close() error {
	var errs []error
	for _, cache := range c.running {
		errs = append(errs, cache.stop())
	}
	return errors.Join(errs...)
}

func nodeOf(obj metav1.Object) []string { return []string{obj.(*corev1.Pod).Spec.NodeName} }

func controllerOf(obj metav1.Object) []string {
	if owner := metav1.GetControllerOf(obj); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}

// getOurs and getPeer make operations that get pods in turn, into one variable.
func (c *podCaches) getOurs(ctx context.Context, opts ...client.GetOption) func() error {
	next, into := c.keys(), c.form.object()
	return func() error { return c.ours.Get(ctx, next(), into, opts...) }
}

func (c *podCaches) getPeer(ctx context.Context, from peercache.Cache, opts ...peerclient.GetOption) func() error {
	next, into := c.keys(), c.form.object()
	return func() error { return from.Get(ctx, next(), into, opts...) }
}

func (c *podCaches) lend(ctx context.Context) func() error {
	next := c.keys()
	return func() error {
		pod, err := cache.Lend[*corev1.Pod](ctx, c.ours, next())
		if err == nil && pod == nil {
			return errors.New("lent nothing")
		}
		return err
	}
}

// keys makes a function that returns the keys of pods all over the cache, over and over.
func (c *podCaches) keys() func() client.ObjectKey {
	const different = 997
	keys := make([]client.ObjectKey, different)
	for k := range keys {
		i := k * (c.count / different) % c.count
		keys[k] = client.ObjectKey{Namespace: appNamespace(i / podsPerApp), Name: podName(i)}
	}
	at := 0
	return func() client.ObjectKey { at++; return keys[at%different] }
}

// listOurs and listPeer make operations that list, and fail unless they get as many pods as wanted.
func (c *podCaches) listOurs(ctx context.Context, want int, opts ...client.ListOption) func() error {
	return func() error {
		list := c.form.list()
		if err := c.ours.List(ctx, list, opts...); err != nil {
			return err
		}
		return exactly(want, c.form.length(list))
	}
}

func (c *podCaches) listPeer(ctx context.Context, from peercache.Cache, want int, opts ...peerclient.ListOption) func() error {
	return func() error {
		list := c.form.list()
		if err := from.List(ctx, list, opts...); err != nil {
			return err
		}
		return exactly(want, c.form.length(list))
	}
}

// walkPeer makes an operation that lists shared objects and looks at each, as lendAll does.
func (c *podCaches) walkPeer(ctx context.Context, want int, opts ...peerclient.ListOption) func() error {
	return func() error {
		var list corev1.PodList
		if err := c.peer.List(ctx, &list, append(opts, peerclient.UnsafeDisableDeepCopy)...); err != nil {
			return err
		}
		n := 0
		for i := range list.Items {
			if list.Items[i].Status.Phase == corev1.PodRunning {
				n++
			}
		}
		return exactly(want, n)
	}
}

// scanPeer makes an operation that finds what an owner has as programs without an index do: among all pods of its namespace.
func (c *podCaches) scanPeer(ctx context.Context, app int) func() error {
	owner := appOwner(app)
	return func() error {
		var list corev1.PodList
		if err := c.peer.List(ctx, &list, peerclient.InNamespace(appNamespace(app))); err != nil {
			return err
		}
		var found []*corev1.Pod
		for i := range list.Items {
			if controller := metav1.GetControllerOfNoCopy(&list.Items[i]); controller != nil && controller.UID == owner {
				found = append(found, &list.Items[i])
			}
		}
		return exactly(podsPerApp, len(found))
	}
}

// lendAll makes an operation that looks at each of the objects Operon lends.
func (c *podCaches) lendAll(ctx context.Context, want int, opts ...client.ListOption) func() error {
	return func() error {
		pods, err := cache.All[*corev1.Pod](ctx, c.ours, opts...)
		if err != nil {
			return err
		}
		n := 0
		for pod := range pods {
			if pod.Status.Phase == corev1.PodRunning {
				n++
			}
		}
		return exactly(want, n)
	}
}

func exactly(want, got int) error {
	if got != want {
		return fmt.Errorf("%d pods are listed, want %d", got, want)
	}
	return nil
}

// step is how long a contender runs in a round.
const step = 10 * time.Millisecond

// readsOf measures typed reads, and what the caches take, with n pods.
func readsOf(n int) func(context.Context, *environment) ([]row, error) {
	return func(ctx context.Context, env *environment) (rows []row, err error) {
		s := newObjectServer(manyPods(n))
		defer s.close()
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
		heap := plan{planned: 1}.of(row{
			Name: "Heap of a cache of Pods", Size: n, Unit: bytesOf, Ours: []float64{c.mine.heap}, Peer: []float64{c.theirs.heap}, PeerName: "default",
			Note: "with the indexes of the other rows",
		})
		return slices.Concat(rows, heap, peaks), err
	}
}

func typedReadRows(ctx context.Context, c *podCaches, p plan) ([]row, error) {
	const inNamespace = podsPerApp * appsInNamespace
	const onNode = podsPerApp / nodesOfAnApp
	namespace, owner := appNamespace(c.app), appOwner(c.app)
	labels := map[string]string{nameLabel: appName(c.app)}
	node, index := podNode(c.some), peerclient.MatchingFields{ownerField: string(owner)}
	labelIndex := peerclient.MatchingFields{labelField: appName(c.app)}

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

		{"label", c.listOurs(ctx, podsPerApp, client.MatchingLabels(labels))},
		{"peer label", c.listPeer(ctx, c.peer, podsPerApp, peerclient.MatchingLabels(labels))},
		{"peer label index", c.listPeer(ctx, c.peer, podsPerApp, labelIndex)},
		{"lend label", c.lendAll(ctx, podsPerApp, client.MatchingLabels(labels))},
		{"peer label index unsafe", c.walkPeer(ctx, podsPerApp, labelIndex)},
		{"peer label unsafe", c.walkPeer(ctx, podsPerApp, peerclient.MatchingLabels(labels))},

		{"owner", c.listOurs(ctx, podsPerApp, cache.OwnedBy(owner))},
		{"peer owner scan", c.scanPeer(ctx, c.app)},
		{"peer owner index", c.listPeer(ctx, c.peer, podsPerApp, index)},
		{"lend owner", c.lendAll(ctx, podsPerApp, cache.OwnedBy(owner))},
		{"peer owner index unsafe", c.walkPeer(ctx, podsPerApp, index)},

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
			named{"stripped label", c.listPeer(ctx, c.stripped, podsPerApp, peerclient.MatchingLabels(labels))},
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
	atTen := func(t target) *target {
		if c.count == 10_000 {
			return &t
		}
		return nil
	}
	table := []comparison{
		{name: "Get a cached Pod, copied", ours: "get", peer: "peer get", peerName: "Get", note: fields},
		{name: "Lend a cached Pod", ours: "lend", peer: "peer get", peerName: "Get", note: lent, target: atTen(atMostRatio(0.05)), allocs: atTen(atMost(0))},
		{name: "Lend a cached Pod", ours: "lend", peer: "peer get unsafe", peerName: "Get, UnsafeDisableDeepCopy", note: "shared objects on both sides"},
		{name: "List all Pods, copied", ours: "all", peer: "peer all", peerName: "List", note: fields},
		{name: "List all Pods, lent", ours: "lend all", peer: "peer all unsafe", peerName: "List, UnsafeDisableDeepCopy", note: shared},
		{name: "List 500 Pods by namespace, copied", ours: "namespace", peer: "peer namespace", peerName: "List", note: fields},
		{name: "List 500 Pods by namespace, lent", ours: "lend namespace", peer: "peer namespace unsafe", peerName: "List, UnsafeDisableDeepCopy", note: shared},
		{name: "List 100 Pods by label, copied", ours: "label", peer: "peer label", peerName: "List", note: fields, target: atTen(atMostRatio(0.1))},
		{name: "List 100 Pods by label, copied", ours: "label", peer: "peer label index", peerName: "List, field index", note: labelled + "; " + fields},
		{name: "List 100 Pods by label, lent", ours: "lend label", peer: "peer label index unsafe", peerName: "List, field index, UnsafeDisableDeepCopy", note: labelled + "; " + shared},
		{name: "List 100 Pods by label, lent", ours: "lend label", peer: "peer label unsafe", peerName: "List, UnsafeDisableDeepCopy", note: shared},
		{name: "List 100 Pods by owner, copied", ours: "owner", peer: "peer owner scan", peerName: "List in the namespace, filtered", note: scan, target: atTen(atMostRatio(0.1))},
		{name: "List 100 Pods by owner, copied", ours: "owner", peer: "peer owner index", peerName: "List, field index", note: indexed + "; " + fields, target: atTen(atMostRatio(0.1))},
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
	var rows []row
	for _, t := range table {
		rows = append(rows, t.rows(c.count, costs)...)
	}
	return p.of(rows...), nil
}

// comparison is two contenders of a contest, by name, and what the rows that they make say.
type comparison struct {
	name, ours, peer, peerName, note string
	target, allocs                   *target // for the time, and for the allocations
}

// rows returns the rows for time, bytes and allocations.
func (c comparison) rows(size int, costs map[string][]cost) []row {
	mine, theirs := costs[c.ours], costs[c.peer]
	return []row{
		{Name: c.name, Size: size, Unit: nanoseconds, Ours: times(mine), Peer: times(theirs), PeerName: c.peerName, Note: c.note, Target: c.target},
		{Name: c.name, Size: size, Unit: bytesOf, Ours: bytesIn(mine), Peer: bytesIn(theirs), PeerName: c.peerName},
		{Name: c.name, Size: size, Unit: allocations, Ours: allocs(mine), Peer: allocs(theirs), PeerName: c.peerName, Target: c.allocs},
	}
}

// formRows measures the main reads in the forms that have no Go type of the kind.
func formRows(ctx context.Context, env *environment) ([]row, error) {
	const n = 2_000 // filling a cache with unstructured objects takes its time
	var rows []row
	forms := []form{unstructuredOf(manyPods(n).gvk), metadataOf(manyPods(n).gvk)}
	for i, f := range forms {
		got, err := rowsInForm(ctx, manyPods(n), f, env.plan(7, 3).oneOf(len(forms)-i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

func rowsInForm(ctx context.Context, r objectSet, f form, p plan) (rows []row, err error) {
	s := newObjectServer(r)
	defer s.close()
	c, err := fillPodCaches(ctx, s, f, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	labels := map[string]string{nameLabel: appName(c.app)}
	var all contest
	all.add("get", lasting(step, c.getOurs(ctx)))
	all.add("peer get", lasting(step, c.getPeer(ctx, c.peer)))
	all.add("label", lasting(step, c.listOurs(ctx, podsPerApp, client.MatchingLabels(labels))))
	all.add("peer label", lasting(step, c.listPeer(ctx, c.peer, podsPerApp, peerclient.MatchingLabels(labels))))
	all.add("label unsafe", lasting(step, c.listOurs(ctx, podsPerApp, client.MatchingLabels(labels), client.UnsafeDisableDeepCopy)))
	all.add("peer label unsafe", lasting(step, c.listPeer(ctx, c.peer, podsPerApp, peerclient.MatchingLabels(labels), peerclient.UnsafeDisableDeepCopy)))
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
	return append(p.of(rows...), plan{planned: 1}.of(row{
		Name: "Heap for each cached object: " + f.name, Unit: bytesOf, PeerName: "default",
		Ours: []float64{c.mine.heap / float64(c.count)}, Peer: []float64{c.theirs.heap / float64(c.count)},
	})...), nil
}
