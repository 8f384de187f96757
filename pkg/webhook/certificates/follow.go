package certificates

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// follow lists and watches a resource into a store until ctx is done. Errors
// of the requests are told to noted.
func follow(ctx context.Context, name string, client dynamic.ResourceInterface, fields string, store toolscache.ReflectorStore, noted func(error)) {
	// The Reflector does not wait for a list that it gives up: each holds this lock for reading.
	var lists sync.RWMutex
	defer func() {
		lists.Lock()
		defer lists.Unlock()
	}()
	lw := &toolscache.ListWatch{
		ListWithContextFunc: func(_ context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			lists.RLock()
			defer lists.RUnlock()
			opts.FieldSelector = fields
			list, err := client.List(ctx, opts)
			if err != nil {
				noted(err)
			}
			return list, err
		},
		WatchFuncWithContext: func(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.FieldSelector = fields
			w, err := client.Watch(ctx, opts)
			if err != nil {
				noted(err)
			}
			return w, err
		},
	}
	logger := klog.FromContext(ctx)
	reflector := toolscache.NewReflectorWithOptions(lw, &unstructured.Unstructured{}, store, toolscache.ReflectorOptions{
		Logger: &logger, Name: "webhook certificates", TypeDescription: name,
	})
	pause := retryMin
	for ctx.Err() == nil {
		begun := time.Now()
		if err := reflector.ListAndWatchWithContext(ctx); err != nil && ctx.Err() == nil {
			logger.V(1).Info("the watch ended and is begun again", "resource", name, "error", err.Error())
		}
		if time.Since(begun) > retryMax {
			pause = retryMin
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
			pause = min(2*pause, retryMax)
		}
	}
}

// signal is a store that keeps nothing and only tells that something has changed.
type signal func()

// Add implements cache.ReflectorStore.
func (s signal) Add(any) error { s(); return nil }

// Update implements cache.ReflectorStore.
func (s signal) Update(any) error { s(); return nil }

// Delete implements cache.ReflectorStore.
func (s signal) Delete(any) error { s(); return nil }

// Replace implements cache.ReflectorStore.
func (s signal) Replace([]any, string) error { s(); return nil }

// Resync implements cache.ReflectorStore.
func (s signal) Resync() error { return nil }
