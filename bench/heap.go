package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/bench/served"
	"github.com/operon-dev/operon/pkg/cache"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	peercache "sigs.k8s.io/controller-runtime/pkg/cache"
)

// The heap of an object hardly depends on how many there are, nor does it vary: the fewer, the sooner is one cache filled
// after the other.
const (
	heapPods    = 4_000
	heapObjects = 2_000 // of other kinds and forms
)

// filler makes a new cache over a server.
type filler func(context.Context, *served.Server) (fillable, error)

func ours(options cache.Options, forms ...form) filler {
	return func(_ context.Context, s *served.Server) (fillable, error) {
		f, _, err := ourFillable(s.URL(), s.Set, options, forms...)
		return f, err
	}
}

func peers(options peercache.Options, forms ...form) filler {
	return func(_ context.Context, s *served.Server) (fillable, error) {
		f, _, err := peerFillable(s.URL(), s.Set, options, forms...)
		return f, err
	}
}

// footprints are what caches take, each a sample a round.
type footprints struct {
	heap    [][]float64 // for each object
	watches [][]float64
}

// footprintsOf fills a cache of each kind in turn, and ends it before the next is made. Their heap is by how much it has
// grown, after a garbage collection.
func footprintsOf(ctx context.Context, s *served.Server, p plan, fillers ...filler) (footprints, error) {
	got := footprints{make([][]float64, len(fillers)), make([][]float64, len(fillers))}
	for round := range p.rounds() {
		for _, i := range inTurn(round, len(fillers)) {
			f, err := fillers[i](ctx, s)
			if err != nil {
				return footprints{}, err
			}
			full, err := fill(ctx, f)
			if err != nil {
				return footprints{}, err
			}
			got.heap[i] = append(got.heap[i], full.heap/float64(s.Count))
			got.watches[i] = append(got.watches[i], float64(s.Watches()))
			err = full.running.stop()
			runtime.KeepAlive(f)
			if err != nil {
				return footprints{}, err
			}
			s.AwaitNoWatch()
		}
	}
	return got, nil
}

// heapInUse collects twice, because pools and finalizers hold on to memory for a
// collection longer.
func heapInUse() uint64 {
	for range 2 {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// heapRows measures what an object of a kind takes in a cache.
func heapRows(ctx context.Context, env *environment) ([]report.Row, error) {
	pods, err := podHeapRows(ctx, env.plan(2, 1).oneOf(2))
	if err != nil {
		return nil, err
	}
	if env.quick {
		return pods, nil
	}
	typedConfigMaps := form{name: "ConfigMap", asked: served.Encoding{Protobuf: true}, object: func() object { return &corev1.ConfigMap{} }}
	typedDatabases := form{name: "custom resource", object: func() object { return &served.Database{} }}
	rows := pods
	kinds := []struct {
		objects served.Set
		form    form
		name    string
	}{
		{served.ConfigMaps(heapObjects), typedConfigMaps, "ConfigMap"},
		{served.Databases(heapObjects), typedDatabases, "custom resource"},
		{served.Databases(heapObjects), unstructuredOf(served.DatabaseKind), "custom resource, unstructured"},
	}
	for i, kind := range kinds {
		got, err := kindHeapRows(ctx, kind.objects, kind.form, kind.name, env.plan(2, 1).oneOf(len(kinds)-i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.name, err)
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

func podHeapRows(ctx context.Context, p plan) ([]report.Row, error) {
	s := served.NewServer(served.Pods(heapPods))
	defer s.Close()
	size, err := s.Prepare(typedPods.asked)
	if err != nil {
		return nil, err
	}
	got, err := footprintsOf(ctx, s, p,
		ours(cache.Options{}, typedPods),
		ours(cache.Options{DefaultCompact: ptr.To(true)}, typedPods),
		peers(peercache.Options{}, typedPods),
		peers(peercache.Options{DefaultTransform: peercache.TransformStripManagedFields()}, typedPods),
	)
	if err != nil {
		return nil, err
	}
	const name, compact, strip = "Heap for each cached Pod", "Heap for each cached Pod, compact", "TransformStripManagedFields"
	h, note := got.heap, sizeNote(size)
	return p.of(
		report.Row{Name: name, Unit: report.Bytes, Ours: h[0], Peer: h[2], PeerName: "default", Note: note}.Wants(report.AtMostRatio(0.5)),
		report.Row{Name: name, Unit: report.Bytes, Ours: h[0], Peer: h[3], PeerName: strip, Note: stripped},
		report.Row{Name: compact, Unit: report.Bytes, Ours: h[1], Peer: h[2], PeerName: "default", Note: note}.Wants(report.AtMostRatio(0.25)),
		report.Row{Name: compact, Unit: report.Bytes, Ours: h[1], Peer: h[3], PeerName: strip, Note: stripped},
	), nil
}

func kindHeapRows(ctx context.Context, r served.Set, f form, name string, p plan) ([]report.Row, error) {
	s := served.NewServer(r)
	defer s.Close()
	size, err := s.Prepare(f.asked)
	if err != nil {
		return nil, err
	}
	got, err := footprintsOf(ctx, s, p,
		ours(cache.Options{}, f), peers(peercache.Options{}, f),
		peers(peercache.Options{DefaultTransform: peercache.TransformStripManagedFields()}, f),
	)
	if err != nil {
		return nil, err
	}
	name = "Heap for each cached " + name
	return p.of(
		report.Row{Name: name, Unit: report.Bytes, Ours: got.heap[0], Peer: got.heap[1], PeerName: "default", Note: sizeNote(size)},
		report.Row{Name: name, Unit: report.Bytes, Ours: got.heap[0], Peer: got.heap[2], PeerName: "TransformStripManagedFields", Note: stripped},
	), nil
}

const stripped = "neither holds managedFields"

func sizeNote(size float64) string {
	return fmt.Sprintf("an object is %.0f B on the wire; Operon drops managedFields by default, the peer keeps them", size)
}

// representationRows measures one resource that is read in several forms from one cache.
func representationRows(ctx context.Context, env *environment) ([]report.Row, error) {
	s := served.NewServer(served.Pods(heapObjects / 2))
	defer s.Close()
	u, m := unstructuredOf(s.GVK), metadataOf(s.GVK)
	var fillers []filler
	var errs []error
	both := [][]form{{typedPods, m}, {typedPods, u}, {typedPods, u, m}}
	for _, forms := range both {
		fillers = append(fillers, ours(cache.Options{}, forms...), peers(peercache.Options{}, forms...))
	}
	for _, e := range []served.Encoding{typedPods.asked, u.asked, m.asked} {
		_, err := s.Prepare(e)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	p := env.plan(2, 1)
	got, err := footprintsOf(ctx, s, p, fillers...)
	if err != nil {
		return nil, err
	}
	var rows []report.Row
	for i, what := range []string{"typed and metadata", "typed and unstructured", "typed, unstructured and metadata"} {
		mine, theirs := 2*i, 2*i+1
		rows = append(rows,
			report.Row{Name: "Watches of Pods, read " + what, Unit: report.Watches, Ours: got.watches[mine], Peer: got.watches[theirs], PeerName: "default"}.Wants(report.AtMost(1)),
			report.Row{Name: "Heap for each cached Pod, read " + what, Unit: report.Bytes, Ours: got.heap[mine], Peer: got.heap[theirs], PeerName: "default"},
		)
	}
	return p.of(rows...), nil
}
