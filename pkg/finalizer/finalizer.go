package finalizer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller/controllerutil"
)

// Finalizer does what has to be done before an object may go.
type Finalizer interface {
	// Finalize does the work and tells which parts of the object it changed in memory. It is called again for the same
	// object until it returns no error, and may be called again after that. The Result counts even with an error: so a
	// condition that tells of the error can be written.
	Finalize(context.Context, client.Object) (Result, error)
}

// Registerer takes Finalizers.
type Registerer interface {
	// Register has f do the work for key. It is an error if key is already registered, or if f is nil.
	Register(key string, f Finalizer) error
}

// Finalizers is a Finalizer made of those that are registered with it. It is safe for concurrent use.
//
// Its Finalize adds all keys to an object that is not being deleted. For one that is, it runs what belongs to the keys
// that the object has, and removes the keys of what succeeded. The error joins those of all that did not, each with its
// key and the object's kind and name; errors.Is and errors.As find them.
type Finalizers interface {
	Registerer
	Finalizer
}

// Result tells which parts of an object were changed in memory, and so have to be written.
type Result struct {
	// Updated says that something other than the status was changed: keys that were added or removed, for one.
	Updated bool
	// StatusUpdated says that the status was changed.
	StatusUpdated bool
}

// NewFinalizers returns Finalizers without any key.
func NewFinalizers() Finalizers {
	return &registry{byKey: map[string]Finalizer{}}
}

type registry struct {
	mu    sync.RWMutex
	keys  []string // in the order of registration; only ever appended to
	byKey map[string]Finalizer
}

// Register implements Registerer.
func (r *registry) Register(key string, f Finalizer) error {
	if f == nil {
		return fmt.Errorf("finalizer %q: nothing to run", key)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.byKey[key]; ok {
		return fmt.Errorf("finalizer %q: already registered", key)
	}
	r.byKey[key] = f
	r.keys = append(r.keys, key)
	return nil
}

func (r *registry) registered() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.keys
}

func (r *registry) get(key string) Finalizer {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byKey[key]
}

// Finalize implements Finalizer.
func (r *registry) Finalize(ctx context.Context, obj client.Object) (Result, error) {
	if obj.GetDeletionTimestamp().IsZero() {
		return Result{Updated: r.addTo(obj)}, nil
	}
	return r.run(ctx, obj)
}

func (r *registry) addTo(obj client.Object) (added bool) {
	for _, key := range r.registered() {
		added = controllerutil.AddFinalizer(obj, key) || added
	}
	return added
}

func (r *registry) run(ctx context.Context, obj client.Object) (Result, error) {
	var (
		total Result
		done  []string
		errs  []error
	)
	for _, key := range r.registered() {
		if !controllerutil.ContainsFinalizer(obj, key) {
			continue
		}
		// No lock is held here: the work may take long, and may register.
		res, err := r.get(key).Finalize(ctx, obj)
		total.Updated = total.Updated || res.Updated
		total.StatusUpdated = total.StatusUpdated || res.StatusUpdated
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: finalizer %q: %w", identity(obj), key, err))
			continue
		}
		controllerutil.RemoveFinalizer(obj, key)
		done = append(done, key)
		total.Updated = true
	}
	// A Finalizer that read the object afresh has brought back the keys of those before it, whose work is done.
	for _, key := range done {
		controllerutil.RemoveFinalizer(obj, key)
	}
	return total, errors.Join(errs...)
}

// identity names obj by its kind, or its Go type where it does not say its kind.
func identity(obj client.Object) string {
	kind := obj.GetObjectKind().GroupVersionKind().Kind
	if kind == "" {
		kind = fmt.Sprintf("%T", obj)
	}
	if obj.GetNamespace() == "" {
		return kind + " " + obj.GetName()
	}
	return kind + " " + obj.GetNamespace() + "/" + obj.GetName()
}
