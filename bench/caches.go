package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/operon-dev/operon/bench/served"
	"github.com/operon-dev/operon/pkg/cache"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	peercache "sigs.k8s.io/controller-runtime/pkg/cache"
)

// form is the Go type that objects are read as.
type form struct {
	name   string
	object func() object
	list   func() objectList
	length func(objectList) int
	asked  served.Encoding // what the clients ask the server for
	typed  bool
}

var typedPods = form{
	name: "Pod", asked: served.Encoding{Protobuf: true}, typed: true,
	object: func() object { return &corev1.Pod{} },
	list:   func() objectList { return &corev1.PodList{} },
	length: func(l objectList) int { return len(l.(*corev1.PodList).Items) },
}

// unstructuredOf and metadataOf are the other forms of a kind.
func unstructuredOf(gvk schema.GroupVersionKind) form {
	return form{
		name: "unstructured " + gvk.Kind,
		object: func() object {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(gvk)
			return u
		},
		list: func() objectList {
			l := &unstructured.UnstructuredList{}
			l.SetGroupVersionKind(listOf(gvk))
			return l
		},
		length: func(l objectList) int { return len(l.(*unstructured.UnstructuredList).Items) },
	}
}

func metadataOf(gvk schema.GroupVersionKind) form {
	return form{
		name: "metadata of " + gvk.Kind, asked: served.Encoding{Protobuf: true, Metadata: true},
		object: func() object {
			m := &metav1.PartialObjectMetadata{}
			m.SetGroupVersionKind(gvk)
			return m
		},
		list: func() objectList {
			l := &metav1.PartialObjectMetadataList{}
			l.SetGroupVersionKind(listOf(gvk))
			return l
		},
		length: func(l objectList) int { return len(l.(*metav1.PartialObjectMetadataList).Items) },
	}
}

func listOf(gvk schema.GroupVersionKind) schema.GroupVersionKind {
	gvk.Kind += "List"
	return gvk
}

// filled is a running cache of one of the libraries and the objects in it.
type filled struct {
	heap    float64 // by how much the heap has grown for it
	running *started
}

// fillable is a new cache, as far as filling it goes.
type fillable struct {
	cache runningCache
	list  func(context.Context) error // waits until it is full
}

// fill starts a cache and returns when it is full.
func fill(ctx context.Context, c fillable) (*filled, error) {
	before := heapInUse()
	running := startCache(ctx, c.cache)
	if err := c.list(ctx); err != nil {
		return nil, errors.Join(err, running.stop())
	}
	return &filled{heap: float64(heapInUse()) - float64(before), running: running}, nil
}

// ourFillable fills a new cache of Operon's with objects in all the given forms.
func ourFillable(host string, r served.Set, options cache.Options, forms ...form) (fillable, cache.Cache, error) {
	options.Mapper = r.Mapper()
	options.Scheme = served.Scheme
	c, err := cache.New(r.ConfigFor(host), options)
	if err != nil {
		return fillable{}, nil, err
	}
	return fillable{cache: c, list: func(ctx context.Context) error {
		for _, f := range forms {
			if _, err := c.GetInformer(ctx, f.object()); err != nil {
				return fmt.Errorf("fill Operon's cache: %s: %w", f.name, err)
			}
		}
		return nil
	}}, c, nil
}

// peerFillable does the same with controller-runtime's.
func peerFillable(host string, r served.Set, options peercache.Options, forms ...form) (fillable, peercache.Cache, error) {
	options.Mapper = r.Mapper()
	options.Scheme = served.Scheme
	c, err := peercache.New(r.ConfigFor(host), options)
	if err != nil {
		return fillable{}, nil, err
	}
	return fillable{cache: c, list: func(ctx context.Context) error {
		for _, f := range forms {
			if _, err := c.GetInformer(ctx, f.object()); err != nil {
				return fmt.Errorf("fill controller-runtime's cache: %s: %w", f.name, err)
			}
		}
		return nil
	}}, c, nil
}
