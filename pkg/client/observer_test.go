package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// told is one call of an observer.
type told struct {
	write   *client.Written
	deleted *deleted
}

type deleted struct {
	GVK schema.GroupVersionKind
	Key client.ObjectKey
	UID types.UID
}

// observer is a cache that records what it is told, and says so when it is read from.
type observer struct {
	mu        sync.Mutex
	wholeJSON bool
	all       []told
}

var (
	_              client.WriteObserver = &observer{}
	errReadOfCache                      = errors.New("read of the cache")
)

func (o *observer) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errReadOfCache
}

func (o *observer) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errReadOfCache
}

func (o *observer) NeedsJSON(schema.GroupVersionKind, runtime.Object) bool { return o.wholeJSON }

func (o *observer) ObserveWrite(w client.Written) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w.Object != nil {
		w.Object = w.Object.DeepCopyObject().(client.Object)
	}
	o.all = append(o.all, told{write: &w})
}

func (o *observer) ObserveDelete(gvk schema.GroupVersionKind, key client.ObjectKey, uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, told{deleted: &deleted{gvk, key, uid}})
}

func (o *observer) take() []told {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.all
	o.all = nil
	return all
}

// one returns the one thing that the observer has been told.
func (o *observer) one(t *testing.T) told {
	t.Helper()
	all := o.take()
	if len(all) != 1 {
		t.Fatalf("the observer was told %d things, want 1: %+v", len(all), all)
	}
	return all[0]
}

func (o *observer) mustHaveNothing(t *testing.T) {
	t.Helper()
	if all := o.take(); len(all) != 0 {
		t.Errorf("the observer was told %+v, want nothing", all)
	}
}

// mustHaveWritten wants the observer to have been told of obj as it is.
func (o *observer) mustHaveWritten(t *testing.T, gvk schema.GroupVersionKind, obj client.Object) {
	t.Helper()
	w := o.one(t).write
	if w == nil || w.GVK != gvk {
		t.Fatalf("the observer was told %+v, want a write of a %s", w, gvk)
	}
	if diff := cmp.Diff(content(t, obj), content(t, w.Object)); diff != "" {
		t.Errorf("the observer was told of another object (-object +told):\n%s", diff)
	}
	if w.JSON == nil {
		return
	}
	var encoded map[string]any
	if err := json.Unmarshal(w.JSON, &encoded); err != nil {
		t.Fatal(err)
	}
	if m, _ := encoded["metadata"].(map[string]any); m["resourceVersion"] != obj.GetResourceVersion() || encoded["kind"] != gvk.Kind {
		t.Errorf("the observer got the JSON of another object: %s", w.JSON)
	}
}

func (o *observer) mustHaveDeleted(t *testing.T, gvk schema.GroupVersionKind, obj client.Object) {
	t.Helper()
	want := &deleted{gvk, client.ObjectKeyFromObject(obj), obj.GetUID()}
	if diff := cmp.Diff(want, o.one(t).deleted); diff != "" {
		t.Errorf("the observer was told (-want +got):\n%s", diff)
	}
}

// mustHaveDeletedAll wants to have been told that held is waiting for its finalizers and free is gone, in any order.
func (o *observer) mustHaveDeletedAll(t *testing.T, gvk schema.GroupVersionKind, held, free client.Object) {
	t.Helper()
	all := o.take()
	if len(all) != 2 {
		t.Fatalf("the observer was told %d things, want 2: %+v", len(all), all)
	}
	if !slices.ContainsFunc(all, func(w told) bool {
		return w.deleted != nil && *w.deleted == deleted{gvk, client.ObjectKeyFromObject(free), free.GetUID()}
	}) {
		t.Errorf("the observer was not told that %s is gone: %+v", free.GetName(), all)
	}
	if !slices.ContainsFunc(all, func(w told) bool {
		return w.write != nil && w.write.GVK == gvk && w.write.Object.GetUID() == held.GetUID() &&
			w.write.Object.GetDeletionTimestamp() != nil && json.Valid(w.write.JSON)
	}) {
		t.Errorf("the observer was not told that %s is being deleted: %+v", held.GetName(), all)
	}
}
