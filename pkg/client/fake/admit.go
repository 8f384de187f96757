package fake

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake/internal/crdschema"
)

// The rules by which a server takes an object in. They are those of k8s.io/apiserver/pkg/registry/rest and, for custom
// resources, of apiextensions-apiserver, with the exceptions that the package comment lists.

// longestGenerated is how much of generateName is used: room is left for the suffix in a name of 63 characters.
const longestGenerated = 58

func errDeletedWithoutFinalizers(obj client.Object) error {
	return fmt.Errorf("object %s has a deletionTimestamp but no finalizers: give it a finalizer, or leave the deletionTimestamp out", obj.GetName())
}

// admitNew makes obj what a server stores of an object that is created, or refuses it.
func (k *kind) admitNew(obj client.Object, o writeOptions) error {
	if obj.GetResourceVersion() != "" {
		return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		base := obj.GetGenerateName()
		obj.SetName(base[:min(len(base), longestGenerated)] + utilrand.String(5))
	}
	if obj.GetName() == "" {
		return k.invalid("", field.Required(field.NewPath("metadata", "name"), "name is required"))
	}
	if k.has(clusterScoped) {
		obj.SetNamespace("")
	}
	obj.SetManagedFields(nil)
	obj.SetSelfLink("")
	if !o.owned {
		obj.SetDeletionTimestamp(nil)
		obj.SetDeletionGracePeriodSeconds(nil)
	}
	if obj.GetUID() == "" {
		obj.SetUID(uuid.NewUUID())
	}
	if created := obj.GetCreationTimestamp(); created.IsZero() {
		obj.SetCreationTimestamp(whole(time.Now()))
	}
	// Without a definition the status of a created object is kept, as controller-runtime's fake does: tests create what they
	// need in the state that they need. An apply has no say in it either way.
	if k.has(hasStatus) && !k.has(bringsStatus) && (o.owned || k.definition != nil) {
		dropStatus(obj)
	}
	if k.has(hasGeneration) && obj.GetGeneration() == 0 {
		obj.SetGeneration(1)
	}
	return k.admitCustom(obj, nil, o)
}

// admitCustom applies the CustomResourceDefinition, if there is one.
func (k *kind) admitCustom(obj, old client.Object, o writeOptions) error {
	if k.definition == nil {
		return nil
	}
	u := obj.(*unstructured.Unstructured)
	k.definition.Normalize(u.Object, o.owned)
	change := crdschema.Change{Object: u.Object, Meta: obj, Status: o.subresource == "status"}
	if old != nil {
		change.Old, change.OldMeta = old.(*unstructured.Unstructured).Object, old
	}
	if errs := k.definition.Validate(change); len(errs) > 0 {
		return apierrors.NewInvalid(k.GroupKind(), obj.GetName(), errs)
	}
	return nil
}

func (k *kind) invalid(name string, err *field.Error) error {
	return apierrors.NewInvalid(k.GroupKind(), name, field.ErrorList{err})
}

// admitChanged returns what a server stores when old is replaced by obj, or refuses it. It may be a new object.
func (k *kind) admitChanged(old, obj client.Object, o writeOptions) (client.Object, error) {
	at := field.NewPath("metadata")
	if obj.GetName() != old.GetName() {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), old.GetName()))
	}
	if ns := obj.GetNamespace(); ns != "" && ns != old.GetNamespace() && !k.has(clusterScoped) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the namespace of the object (%s) does not match the namespace on the URL (%s)", ns, old.GetNamespace()))
	}
	if uid := obj.GetUID(); uid != "" && old.GetUID() != "" && uid != old.GetUID() {
		return nil, apierrors.NewConflict(k.resource, obj.GetName(),
			fmt.Errorf("precondition failed: UID in precondition: %v, UID in object meta: %v", uid, old.GetUID()))
	}
	switch version := obj.GetResourceVersion(); {
	case version == old.GetResourceVersion():
	case version != "" && version != "0": // servers take 0 for none
		return nil, k.modified(obj.GetName())
	case !o.anyVersion && !k.has(replaceable):
		return nil, k.invalid(obj.GetName(), field.Invalid(at.Child("resourceVersion"), 0, "must be specified for an update"))
	}
	obj.SetResourceVersion(old.GetResourceVersion())
	if o.subresource == "status" {
		status := obj
		obj = old.DeepCopyObject().(client.Object)
		takeStatus(obj, status)
		return obj, k.admitCustom(obj, old, o)
	}
	if k.has(hasStatus) {
		takeStatus(obj, old)
	}
	if o.owned {
		obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	} else if !sameSecond(obj.GetDeletionTimestamp(), old.GetDeletionTimestamp()) {
		return nil, k.invalid(obj.GetName(), field.Invalid(at.Child("deletionTimestamp"), obj.GetDeletionTimestamp(), "field is immutable"))
	}
	k.keepIdentity(obj, old)
	if old.GetDeletionTimestamp() != nil {
		if errs := validation.ValidateNoNewFinalizers(obj.GetFinalizers(), old.GetFinalizers(), at.Child("finalizers")); len(errs) > 0 {
			return nil, apierrors.NewInvalid(k.GroupKind(), obj.GetName(), errs)
		}
	}
	if err := k.admitCustom(obj, old, o); err != nil {
		return nil, err
	}
	if o.subresource != "binding" && k.countsAsNew(old, obj) {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
	return obj, nil
}

func (k *kind) modified(name string) error {
	return apierrors.NewConflict(k.resource, name,
		fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
}

// keepIdentity makes obj go on as the object that old is. What the builder was given without is taken from obj.
func (k *kind) keepIdentity(obj, old client.Object) {
	obj.SetNamespace(old.GetNamespace())
	obj.SetManagedFields(nil)
	obj.SetSelfLink(old.GetSelfLink())
	if uid := old.GetUID(); uid != "" {
		obj.SetUID(uid)
	}
	if created := old.GetCreationTimestamp(); !created.IsZero() {
		obj.SetCreationTimestamp(created)
	}
	if generation := old.GetGeneration(); generation != 0 || !k.has(hasGeneration) {
		obj.SetGeneration(generation)
	}
	obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	obj.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
}

// countsAsNew says whether obj is of another generation than old. An object without a generation, which only the builder can
// have been given, goes on without.
func (k *kind) countsAsNew(old, obj client.Object) bool {
	if !k.has(hasGeneration) || old.GetGeneration() == 0 {
		return false
	}
	if !sameWanted(old, obj, !k.has(hasStatus)) {
		return true
	}
	// The annotations of a Deployment are wanted of its ReplicaSets.
	return k.Group == "apps" && k.Kind == "Deployment" && !equality.Semantic.DeepEqual(old.GetAnnotations(), obj.GetAnnotations())
}

func sameSecond(a, b *metav1.Time) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() == b.IsZero()
	}
	return a.Unix() == b.Unix()
}

// checkPreconditions says whether obj may be deleted.
func (k *kind) checkPreconditions(obj client.Object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != obj.GetUID() {
		return apierrors.NewConflict(k.resource, obj.GetName(),
			fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *p.UID, obj.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != obj.GetResourceVersion() {
		return apierrors.NewConflict(k.resource, obj.GetName(),
			fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, obj.GetResourceVersion()))
	}
	return nil
}

// unchanged says whether e would be what is stored already: servers store nothing then.
func (s *server) unchanged(k *kind, old, e *entry) bool {
	if !equality.Semantic.DeepEqual(old.obj, e.obj) {
		return false
	}
	return old.owners == e.owners || s.owners.same(k, old.owners, e.owners)
}
