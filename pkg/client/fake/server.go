package fake

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/operon-dev/operon/pkg/client"
)

// server does what an API server does with requests. Writes happen one after the other; reads do not wait for each other.
type server struct {
	kinds *kinds
	// managedFields says that answers carry them.
	managedFields bool
	owners        *owners

	mu       sync.RWMutex
	store    store
	versions versions
	// sequence counts the changes. Where all objects count together it is the last resourceVersion.
	sequence uint64
	history  history
	watches  map[*watching]struct{}
	indexes  indexes
}

// writeOptions say how something is written.
type writeOptions struct {
	dryRun  bool
	manager string
	// subresource is empty for the object itself.
	subresource string
	// anyVersion lets an object be replaced without naming its resourceVersion, whatever its kind.
	anyVersion bool
	// owned says that the object carries the managedFields it is to have.
	owned bool
}

func dry(dryRun []string) bool { return slices.Contains(dryRun, metav1.DryRunAll) }

// whole returns the time that is stored for now: in seconds.
func whole(now time.Time) metav1.Time { return metav1.Time{Time: time.Unix(now.Unix(), 0)} }

// place returns the key under which an object of kind k is stored: cluster-scoped ones have no namespace.
func (k *kind) place(key types.NamespacedName) types.NamespacedName {
	if k.has(clusterScoped) {
		key.Namespace = ""
	}
	return key
}

// read returns the entry at key, or a NotFound error.
func (s *server) read(k *kind, key types.NamespacedName) (*entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.find(k, key)
}

func (s *server) find(k *kind, key types.NamespacedName) (*entry, error) {
	e, err := s.store.get(k, k.place(key))
	if err == nil && e == nil {
		err = apierrors.NewNotFound(k.resource, key.Name)
	}
	return e, err
}

// create adds obj, which is in the stored form and belongs to the server from now on.
func (s *server) create(k *kind, obj client.Object, o writeOptions) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.createLocked(k, obj, o)
}

func (s *server) createLocked(k *kind, obj client.Object, o writeOptions) (*entry, error) {
	managed := obj.GetManagedFields()
	if err := k.admitNew(obj, o); err != nil {
		return nil, err
	}
	if err := s.owners.accepts(k, obj); err != nil {
		return nil, err
	}
	if old, err := s.store.get(k, keyOf(obj)); err != nil {
		return nil, err
	} else if old != nil {
		return nil, apierrors.NewAlreadyExists(k.resource, obj.GetName())
	}
	e := &entry{obj: obj}
	if o.owned {
		e.owners = owned(managed)
	} else {
		e.owners = s.owners.created(k, obj, managed, o)
	}
	if o.dryRun {
		return e, nil
	}
	obj.SetResourceVersion(s.versions.created())
	return e, s.keep(k, nil, e, o)
}

// keep stores e in place of old, and tells the watches.
func (s *server) keep(k *kind, old, e *entry, o writeOptions) error {
	if err := s.store.put(k, old, e, o); err != nil {
		return err
	}
	typ := watch.Modified
	if old == nil {
		typ = watch.Added
	}
	s.tell(change{typ: typ, tracked: k.tracked, before: old, after: e})
	return nil
}

func (s *server) tell(c change) {
	s.sequence++
	if s.versions.global {
		s.sequence = max(s.sequence, s.versions.last)
	}
	c.sequence = s.sequence
	s.history.add(c)
	for w := range s.watches {
		w.observe(c)
	}
}

// changing makes the new version of an object out of the old one. What it returns belongs to the server; it must not change
// the old one.
type changing func(old *entry) (client.Object, error)

// update replaces the object at key by what change makes of it.
func (s *server) update(k *kind, key types.NamespacedName, change changing, o writeOptions) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.find(k, key)
	if err != nil {
		return nil, err
	}
	return s.updateLocked(k, old, change, o)
}

func (s *server) updateLocked(k *kind, old *entry, change changing, o writeOptions) (*entry, error) {
	obj, err := change(old)
	if err != nil {
		return nil, err
	}
	managed := obj.GetManagedFields()
	if obj, err = k.admitChanged(old.obj, obj, o); err != nil {
		return nil, err
	}
	if err := s.owners.accepts(k, obj); err != nil {
		return nil, err
	}
	e := &entry{obj: obj}
	if o.owned {
		e.owners = owned(managed)
	} else {
		e.owners = s.owners.changed(k, old, obj, managed, o)
	}
	obj.SetResourceVersion(old.obj.GetResourceVersion())
	if s.unchanged(k, old, e) {
		return old, nil
	}
	if o.dryRun {
		return e, nil
	}
	version, err := s.versions.next(old.obj)
	if err != nil {
		return nil, err
	}
	obj.SetResourceVersion(version)
	if obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 {
		return e, s.forget(k, old, version)
	}
	return e, s.keep(k, old, e, o)
}

// forget removes old. What watches are shown is what was stored last, under the version of its end.
func (s *server) forget(k *kind, old *entry, version string) error {
	last := old
	if version != old.obj.GetResourceVersion() {
		last = &entry{obj: old.obj.DeepCopyObject().(client.Object), owners: old.owners}
		last.obj.SetResourceVersion(version)
	}
	if err := s.store.remove(k, old); err != nil {
		return err
	}
	s.tell(change{typ: watch.Deleted, tracked: k.tracked, before: old, after: last})
	return nil
}

// delete removes the object at key, or marks it where finalizers hold it.
func (s *server) delete(k *kind, key types.NamespacedName, o *metav1.DeleteOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.find(k, key)
	if err != nil {
		return err
	}
	return s.deleteLocked(k, old, o)
}

func (s *server) deleteLocked(k *kind, old *entry, o *metav1.DeleteOptions) error {
	if err := k.checkPreconditions(old.obj, o.Preconditions); err != nil {
		return err
	}
	held := len(old.obj.GetFinalizers()) > 0
	if dry(o.DryRun) || held && old.obj.GetDeletionTimestamp() != nil {
		return nil
	}
	version := old.obj.GetResourceVersion()
	if held || s.versions.global {
		var err error
		if version, err = s.versions.next(old.obj); err != nil {
			return err
		}
	}
	if !held {
		return s.forget(k, old, version)
	}
	marked := &entry{obj: old.obj.DeepCopyObject().(client.Object), owners: old.owners}
	marked.obj.SetResourceVersion(version)
	now, zero := whole(time.Now()), int64(0)
	marked.obj.SetDeletionTimestamp(&now)
	marked.obj.SetDeletionGracePeriodSeconds(&zero)
	if generation := marked.obj.GetGeneration(); generation > 0 {
		marked.obj.SetGeneration(generation + 1)
	}
	return s.keep(k, old, marked, writeOptions{})
}

// give adds an object that the builder was given, as it is. If it has no resourceVersion, it learns its own, so that the test
// that made it can go on with it.
func (s *server) give(obj client.Object) error {
	k, err := s.kinds.of(obj)
	if err != nil {
		return err
	}
	stored, err := k.admit(obj)
	if err != nil {
		return err
	}
	if stored.GetDeletionTimestamp() != nil && len(stored.GetFinalizers()) == 0 {
		return errDeletedWithoutFinalizers(stored)
	}
	if _, elsewhere := s.store.(*tracked); !elsewhere {
		if err := managedfields.ValidateManagedFields(stored.GetManagedFields()); err != nil {
			return fmt.Errorf("%T: managedFields: %w", obj, err)
		}
	}
	if k.has(clusterScoped) {
		stored.SetNamespace("")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, err := s.store.get(k, keyOf(stored)); err != nil {
		return err
	} else if old != nil {
		return apierrors.NewAlreadyExists(k.resource, stored.GetName())
	}
	if version := s.versions.given(stored.GetResourceVersion()); version != stored.GetResourceVersion() {
		stored.SetResourceVersion(version)
		obj.SetResourceVersion(version)
	}
	e := &entry{obj: stored, owners: owned(stored.GetManagedFields())}
	stored.SetManagedFields(nil)
	return s.keep(k, nil, e, writeOptions{})
}

// listVersion is the resourceVersion of a list that is made now. Where each object counts for itself there is none that could
// be compared with anything.
func (s *server) listVersion() string {
	if !s.versions.global {
		return ""
	}
	return strconv.FormatUint(s.sequence, 10)
}

// alive returns the error of a context that has ended. Callers of a fake sometimes have none.
func alive(ctx context.Context) error {
	if ctx == nil {
		return nil
	}
	return ctx.Err()
}

// addManagedFields gives out, a copy of what e holds, its managedFields if answers carry them.
func (s *server) addManagedFields(k *kind, e *entry, out metav1.Object) {
	if !s.managedFields {
		return
	}
	if managed := s.owners.of(k, e.owners); len(managed) > 0 {
		out.SetManagedFields(managed)
	} else if u, ok := out.(*unstructured.Unstructured); ok {
		unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	}
}
