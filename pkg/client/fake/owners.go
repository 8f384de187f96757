package fake

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake/internal/crdschema"
)

// ownership tells which fields of an object belong to whom. A server works that out on every write. Here it is worked out
// when somebody asks, by an apply or for an answer that carries managedFields: few objects of a test are ever asked about.
type ownership struct {
	once    sync.Once
	managed []metav1.ManagedFieldsEntry

	// What is to be worked out, until it is: a write that made one object of another.
	before      *ownership
	live        client.Object // nil for what was created
	next        client.Object
	given       []metav1.ManagedFieldsEntry // what the caller asked for
	manager     string
	subresource string

	depth atomic.Int32 // how many ownerships before this one are to be worked out with it
}

// deepest is how many writes are put off at most.
const deepest = 1000

// owned returns an ownership that is known.
func owned(managed []metav1.ManagedFieldsEntry) *ownership {
	o := &ownership{managed: managed}
	o.once.Do(func() {})
	return o
}

// owners works out ownerships.
type owners struct {
	converter managedfields.TypeConverter
	// strict says that a kind which the converter does not know cannot be written.
	strict bool

	managers sync.Map // managerKey → *managedfields.FieldManager
	accepted sync.Map // schema.GroupVersionKind → bool
}

type managerKey struct {
	gvk         schema.GroupVersionKind
	subresource string
}

// accepts returns the error of a converter that cannot do with objects of kind k.
func (os *owners) accepts(k *kind, obj client.Object) error {
	if !os.strict {
		return nil
	}
	if _, ok := os.accepted.Load(k.stored); ok {
		return nil
	}
	u, err := k.asMap(obj)
	if err != nil {
		return err
	}
	if _, err := os.converter.ObjectToTyped(u, typed.AllowDuplicates); err != nil {
		return err
	}
	os.accepted.Store(k.stored, true)
	return nil
}

// created returns the ownership of a new object.
func (os *owners) created(k *kind, obj client.Object, given []metav1.ManagedFieldsEntry, o writeOptions) *ownership {
	return os.later(k, &ownership{next: obj, given: given, manager: o.manager, subresource: o.subresource})
}

// changed returns the ownership of obj, which was made of old.
func (os *owners) changed(k *kind, old *entry, obj client.Object, given []metav1.ManagedFieldsEntry, o writeOptions) *ownership {
	if o.subresource != "" {
		given = nil // servers let managedFields be set through the object only
	}
	next := &ownership{before: old.owners, live: old.obj, next: obj, given: given, manager: o.manager, subresource: o.subresource}
	next.depth.Store(old.owners.depth.Load() + 1)
	return os.later(k, next)
}

func (os *owners) later(k *kind, o *ownership) *ownership {
	if o.depth.Load() >= deepest {
		os.of(k, o)
	}
	return o
}

// of returns the managedFields of an ownership. The caller gets a copy.
func (os *owners) of(k *kind, o *ownership) []metav1.ManagedFieldsEntry {
	o.once.Do(func() {
		o.managed = os.workOut(k, o)
		o.before, o.live, o.next, o.given = nil, nil, nil, nil
		o.depth.Store(0)
	})
	copied := make([]metav1.ManagedFieldsEntry, len(o.managed))
	for i := range o.managed {
		o.managed[i].DeepCopyInto(&copied[i])
	}
	return copied
}

func (os *owners) workOut(k *kind, o *ownership) []metav1.ManagedFieldsEntry {
	next, err := k.asMap(o.next)
	if err != nil {
		return nil
	}
	live := emptyOf(k, o.next)
	if o.live != nil {
		if live, err = k.asMap(o.live); err != nil {
			return nil
		}
		live.SetManagedFields(os.of(k, o.before))
		next.SetManagedFields(live.GetManagedFields())
	}
	if o.given != nil {
		next.SetManagedFields(o.given)
	}
	former := live.GetManagedFields()
	manager, err := os.manager(k, o.subresource)
	if err != nil {
		return former
	}
	updated, err := manager.Update(live, next, o.manager)
	if err != nil {
		return former // as a server does that cannot work them out
	}
	managed := updated.(*unstructured.Unstructured).GetManagedFields()
	if o.subresource == "scale" && k.hidesScaling(next, former) {
		managed = slices.DeleteFunc(managed, func(e metav1.ManagedFieldsEntry) bool {
			return e.Subresource == "scale" && e.Manager == o.manager && e.Operation == metav1.ManagedFieldsOperationUpdate
		})
	}
	return managed
}

// emptyOf returns the object that obj was before it was created. Kubernetes' own kinds are Go structs in a server, which have
// all their parts from the start; custom resources are maps.
func emptyOf(k *kind, obj client.Object) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if k.builtin && !k.holdsMaps() {
		if struc, err := k.asMap(k.blank()); err == nil {
			u = struc
		}
	}
	u.SetGroupVersionKind(k.stored)
	if obj == nil {
		return u
	}
	u.SetName(obj.GetName())
	if ns := obj.GetNamespace(); ns != "" {
		u.SetNamespace(ns)
	}
	return u
}

// same says whether two ownerships differ in nothing but the time of entries.
func (os *owners) same(k *kind, a, b *ownership) bool {
	if b.given == nil && b.before == a && b.managed == nil {
		// The write changed no field, and asked for no other owners: then nobody owns anything else than before. Working it
		// out would be in vain.
		return true
	}
	timeless := func(o *ownership) []metav1.ManagedFieldsEntry {
		managed := os.of(k, o)
		for i := range managed {
			managed[i].Time = nil
		}
		return managed
	}
	return equality.Semantic.DeepEqual(timeless(a), timeless(b))
}

// apply merges the fields that config names into live, and returns the new object with its managedFields.
func (os *owners) apply(k *kind, live, config *unstructured.Unstructured, o writeOptions, force bool) (*unstructured.Unstructured, error) {
	manager, err := os.manager(k, o.subresource)
	if err != nil {
		return nil, err
	}
	merged, err := manager.Apply(live, config, o.manager, force)
	if err != nil {
		return nil, err
	}
	return merged.(*unstructured.Unstructured), nil
}

func (os *owners) manager(k *kind, subresource string) (*managedfields.FieldManager, error) {
	key := managerKey{gvk: k.stored, subresource: subresource}
	if m, ok := os.managers.Load(key); ok {
		return m.(*managedfields.FieldManager), nil
	}
	reset := map[fieldpath.APIVersion]fieldpath.Filter{}
	version := fieldpath.APIVersion(k.stored.GroupVersion().String())
	switch {
	case subresource == "status":
		reset[version] = fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata")))
	case k.has(hasStatus):
		reset[version] = fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status")))
	}
	m, err := managedfields.NewDefaultCRDFieldManager(os.converter, asItIs{}, asItIs{}, blanks{k}, k.stored, k.stored.GroupVersion(), subresource, reset)
	if err != nil {
		return nil, err
	}
	os.managers.Store(key, m)
	return m, nil
}

// asItIs is what a field manager needs to convert and default objects. All it gets are maps of one version.
type asItIs struct{}

func (asItIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (asItIs) Convert(_, _, _ any) error {
	return errors.New("objects are not converted between versions")
}

func (asItIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (asItIs) Default(runtime.Object) {}

// blanks makes the objects that are there before anything is set.
type blanks struct{ kind *kind }

func (b blanks) New(schema.GroupVersionKind) (runtime.Object, error) {
	return emptyOf(b.kind, nil), nil
}

// converters asks one converter after the other, and takes the first answer that is not an error.
type converters []managedfields.TypeConverter

// definedKinds leaves the kinds of definitions to their own converter, and all others to the rest.
type definedKinds struct {
	managedfields.TypeConverter
	defined map[schema.GroupVersionKind]*crdschema.Version
	own     managedfields.TypeConverter
}

func (d definedKinds) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if d.defined[obj.GetObjectKind().GroupVersionKind()] != nil {
		return d.own.ObjectToTyped(obj, options...)
	}
	return d.TypeConverter.ObjectToTyped(obj, options...)
}

func (cs converters) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	var errs []error
	for _, c := range cs {
		v, err := c.ObjectToTyped(obj, options...)
		if err == nil {
			return v, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (cs converters) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	var errs []error
	for _, c := range cs {
		obj, err := c.TypedToObject(v)
		if err == nil {
			return obj, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// onceNeeded makes a converter when it is first used: that of Kubernetes' own kinds reads half a megabyte of schema.
type onceNeeded func() managedfields.TypeConverter

func (f onceNeeded) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return f().ObjectToTyped(obj, options...)
}

func (f onceNeeded) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return f().TypedToObject(v)
}
