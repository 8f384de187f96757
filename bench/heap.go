package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/operon-dev/operon/pkg/cache"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	peercache "sigs.k8s.io/controller-runtime/pkg/cache"
)

// fillable is a new cache, as far as filling it goes.
type fillable struct {
	cache runningCache
	list  func(context.Context) error
}

// heapRows measures how much the heap has grown, after a garbage collection,
// when a cache has been filled, for each object. A cache ends before the next is made.
func heapRows(ctx context.Context, s *podServer, pods, rounds int) ([]row, error) {
	makers := []func() (fillable, error){
		func() (fillable, error) { return newOurFillable(s, cache.Options{}) },
		func() (fillable, error) { return newPeerFillable(s, peercache.Options{}) },
		func() (fillable, error) {
			return newPeerFillable(s, peercache.Options{DefaultTransform: peercache.TransformStripManagedFields()})
		},
		func() (fillable, error) { return newOurFillable(s, cache.Options{DefaultCompact: ptr.To(true)}) },
	}
	samples := make([][]float64, len(makers))
	for round := range rounds {
		for turn := range makers {
			i := (round + turn) % len(makers)
			grown, err := growth(ctx, makers[i])
			if err != nil {
				return nil, fmt.Errorf("fill a cache of pods: %w", err)
			}
			samples[i] = append(samples[i], grown/float64(pods))
		}
	}
	note := fmt.Sprintf("%.0f B encoded; Operon drops managedFields by default, the peer keeps them", s.podBytes)
	return []row{
		row{Name: "Heap for each cached Pod", Unit: bytesOf, Ours: samples[0], Peer: samples[1], PeerName: "default", Note: note}.wants(atMostRatio(0.5)),
		{Name: "Heap for each cached Pod", Unit: bytesOf, Ours: samples[0], Peer: samples[2], PeerName: "TransformStripManagedFields", Note: "neither holds managedFields"},
		row{Name: "Heap for each cached Pod, compact", Unit: bytesOf, Ours: samples[3], Peer: samples[1], PeerName: "default", Note: note}.wants(atMostRatio(0.25)),
	}, nil
}

// growth returns by how many bytes a filled cache makes the heap grow.
func growth(ctx context.Context, make func() (fillable, error)) (float64, error) {
	before := heapInUse()
	c, err := make()
	if err != nil {
		return 0, err
	}
	running := startCache(ctx, c.cache)
	err = c.list(ctx)
	after := heapInUse()
	runtime.KeepAlive(c)
	return float64(after) - float64(before), errors.Join(err, running.stop())
}

// heapInUse collects more than once, because pools and finalizers hold on to
// memory for a collection longer.
func heapInUse() uint64 {
	for range 3 {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func newOurFillable(s *podServer, options cache.Options) (fillable, error) {
	options.Mapper = s.mapper()
	c, err := cache.New(s.config(), options)
	if err != nil {
		return fillable{}, err
	}
	return fillable{cache: c, list: func(ctx context.Context) error {
		_, err := c.GetInformer(ctx, &corev1.Pod{})
		return err
	}}, nil
}

func newPeerFillable(s *podServer, options peercache.Options) (fillable, error) {
	options.Mapper = s.mapper()
	c, err := peercache.New(s.config(), options)
	if err != nil {
		return fillable{}, err
	}
	return fillable{cache: c, list: func(ctx context.Context) error {
		_, err := c.GetInformer(ctx, &corev1.Pod{})
		return err
	}}, nil
}
