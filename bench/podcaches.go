package main

// This file holds filled caches of both libraries, and what is done with them in a round.

import (
	"context"
	"errors"
	"fmt"

	"github.com/operon-dev/operon/bench/served"
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
func fillPodCaches(ctx context.Context, s *served.Server, f form, stripped bool) (_ *podCaches, err error) {
	if _, err := s.Prepare(f.asked); err != nil {
		return nil, err
	}
	c := &podCaches{form: f, count: s.Count, app: s.Count / served.PodsPerApp / 2}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	c.some = c.app * served.PodsPerApp
	ourPods, ours, err := ourFillable(s.URL(), s.Set, cache.Options{}, f)
	if err != nil {
		return nil, err
	}
	peerPods, peer, err := peerFillable(s.URL(), s.Set, peercache.Options{}, f)
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
		pods, peer, err := peerFillable(s.URL(), s.Set, peercache.Options{DefaultTransform: peercache.TransformStripManagedFields()}, f)
		if err != nil {
			return nil, err
		}
		full, err := fill(ctx, pods)
		if err != nil {
			return nil, err
		}
		c.running, c.stripped = append(c.running, full.running), peer
	}
	s.Forget()
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
		keys[k] = client.ObjectKey{Namespace: served.AppNamespace(i / served.PodsPerApp), Name: served.PodName(i)}
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
	owner := served.AppOwner(app)
	return func() error {
		var list corev1.PodList
		if err := c.peer.List(ctx, &list, peerclient.InNamespace(served.AppNamespace(app))); err != nil {
			return err
		}
		var found []*corev1.Pod
		for i := range list.Items {
			if controller := metav1.GetControllerOfNoCopy(&list.Items[i]); controller != nil && controller.UID == owner {
				found = append(found, &list.Items[i])
			}
		}
		return exactly(served.PodsPerApp, len(found))
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
