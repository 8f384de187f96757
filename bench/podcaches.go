package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	corev1 "k8s.io/api/core/v1"
	peercache "sigs.k8s.io/controller-runtime/pkg/cache"
	peerclient "sigs.k8s.io/controller-runtime/pkg/client"
)

// ownerField is the peer's index of pods by the UID of their controller, made as
// its documentation of IndexField shows. Operon has one from the start.
const ownerField = ".metadata.controller"

// podCaches are filled caches of both libraries over one podServer.
type podCaches struct {
	ours    cache.Cache
	peer    peercache.Cache
	running []*started
}

func fillPodCaches(ctx context.Context, s *podServer) (*podCaches, error) {
	ours, err := cache.New(s.config(), cache.Options{Mapper: s.mapper()})
	if err != nil {
		return nil, err
	}
	peer, err := peercache.New(s.config(), peercache.Options{Mapper: s.mapper()})
	if err != nil {
		return nil, err
	}
	err = peer.IndexField(ctx, &corev1.Pod{}, ownerField, func(obj peerclient.Object) []string {
		for _, owner := range obj.GetOwnerReferences() {
			if owner.Controller != nil && *owner.Controller {
				return []string{string(owner.UID)}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	caches := &podCaches{ours: ours, peer: peer, running: []*started{startCache(ctx, ours), startCache(ctx, peer)}}

	var mine, theirs corev1.PodList
	if err := errors.Join(ours.List(ctx, &mine), peer.List(ctx, &theirs)); err != nil {
		return nil, errors.Join(err, caches.close())
	}
	if len(mine.Items) != len(theirs.Items) {
		return nil, errors.Join(fmt.Errorf("%d pods in Operon's cache, %d in the peer's", len(mine.Items), len(theirs.Items)), caches.close())
	}
	return caches, nil
}

func (c *podCaches) close() error {
	var errs []error
	for _, s := range c.running {
		errs = append(errs, s.stop())
	}
	return errors.Join(errs...)
}

// listOurs and listPeer make an operation that lists, and fails unless it gets as many as an app has.
func (c *podCaches) listOurs(ctx context.Context, opts ...client.ListOption) func() error {
	return func() error {
		var list corev1.PodList
		if err := c.ours.List(ctx, &list, opts...); err != nil {
			return err
		}
		return oneApp(len(list.Items))
	}
}

func (c *podCaches) listPeer(ctx context.Context, opts ...peerclient.ListOption) func() error {
	return func() error {
		var list corev1.PodList
		if err := c.peer.List(ctx, &list, opts...); err != nil {
			return err
		}
		return oneApp(len(list.Items))
	}
}

// rangeOurs makes an operation that walks the objects Operon lends.
func (c *podCaches) rangeOurs(ctx context.Context, opts ...client.ListOption) func() error {
	return func() error {
		pods, err := cache.All[*corev1.Pod](ctx, c.ours, opts...)
		if err != nil {
			return err
		}
		n := 0
		for range pods {
			n++
		}
		return oneApp(n)
	}
}

func oneApp(n int) error {
	if n != podsPerApp {
		return fmt.Errorf("%d pods of one app, want %d", n, podsPerApp)
	}
	return nil
}
