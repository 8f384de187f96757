package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	// The version that API servers use: later ones refuse to replace what is not there.
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/operon-dev/operon/pkg/client"
)

// patched returns what a patch makes of original, which is JSON. structure is the Go type that a strategic merge goes by.
func patched(original []byte, patchType types.PatchType, patch []byte, structure any) ([]byte, error) {
	switch patchType {
	case types.JSONPatchType:
		operations, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		out, err := operations.Apply(original)
		if err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
		}
		return out, nil
	case types.MergePatchType:
		if !json.Valid(patch) {
			return nil, apierrors.NewBadRequest("error decoding patch: it is not JSON")
		}
		out, err := jsonpatch.MergePatch(original, patch)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if !bytes.HasPrefix(out, []byte("{")) {
			return nil, apierrors.NewBadRequest("error decoding patch: it makes no object")
		}
		return out, nil
	case types.StrategicMergePatchType:
		out, err := strategicpatch.StrategicMergePatch(original, patch, structure)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return out, nil
	default:
		return nil, unsupportedPatch(patchType)
	}
}

func unsupportedPatch(patchType types.PatchType) error {
	return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", schema.GroupResource{}, "",
		fmt.Sprintf("this kind takes no patches of type %s", patchType), 0, false)
}

// takes says whether a patch can be made to objects of kind k, whichever they are: strategic merges need a Go type.
func (k *kind) takes(patchType types.PatchType, data []byte) error {
	switch patchType {
	case types.MergePatchType, types.ApplyPatchType:
		return nil
	case types.JSONPatchType:
		if !json.Valid(data) {
			return apierrors.NewBadRequest("error decoding patch: it is not JSON")
		}
		return nil
	case types.StrategicMergePatchType:
		if !k.holdsMaps() {
			return nil
		}
	}
	return unsupportedPatch(patchType)
}

// patchWith returns the change that a patch makes.
func (k *kind) patchWith(patchType types.PatchType, data []byte) changing {
	return func(old *entry) (client.Object, error) {
		original, err := k.told(old.obj)
		if err != nil {
			return nil, err
		}
		var structure any
		if !k.holdsMaps() {
			structure = reflect.New(k.goType).Interface()
		}
		next, err := patched(original, patchType, data, structure)
		if err != nil {
			return nil, err
		}
		unprocessable := func(message string) error {
			return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", k.resource, keyOf(old.obj).Name, message, 0, false)
		}
		if patchType != types.StrategicMergePatchType && (patchType == types.JSONPatchType || namesKind(data)) {
			if err := k.isStill(next); err != nil {
				return nil, unprocessable(err.Error())
			}
		}
		obj, err := k.decode(next)
		if err != nil {
			return nil, unprocessable(err.Error())
		}
		if uid := obj.GetUID(); uid != "" && old.obj.GetUID() != "" && uid != old.obj.GetUID() {
			return nil, k.invalid(keyOf(old.obj).Name, field.Invalid(field.NewPath("metadata", "uid"), uid, "field is immutable"))
		}
		return obj, nil
	}
}

// namesKind says whether a merge patch may change the kind. One that cannot is spared another pass over the object; strategic
// merges never do.
func namesKind(patch []byte) bool {
	return bytes.Contains(patch, []byte(`"kind"`)) || bytes.Contains(patch, []byte(`"apiVersion"`))
}

// isStill returns an error if an object is not of kind k any more. A Go type tells the kind of what does not say it.
func (k *kind) isStill(object []byte) error {
	var is metav1.TypeMeta
	if err := json.Unmarshal(object, &is); err != nil {
		return err
	}
	version := is.APIVersion == "" || is.APIVersion == k.stored.GroupVersion().String() || is.APIVersion == k.GroupVersion().String()
	said := is.Kind != "" || k.holdsMaps()
	if !version || said && is.Kind != k.Kind {
		return fmt.Errorf("the patch makes a %s of a %s", is.GroupVersionKind(), k.stored)
	}
	return nil
}

// told returns what is stored as JSON that tells its kind, for patches that look at it.
func (k *kind) told(stored client.Object) ([]byte, error) {
	if k.holdsMaps() {
		return encoded(stored)
	}
	named := stored.DeepCopyObject()
	setKind(named, k.stored)
	return encoded(named)
}

// applied is an apply configuration: the object that it names, and its fields.
type applied struct {
	*unstructured.Unstructured
	kind *kind
}

// content is what apply configurations of unstructured objects have.
type content interface{ SetUnstructuredContent(map[string]any) }

func (ks *kinds) applied(config any) (applied, error) {
	if v := reflect.ValueOf(config); config == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return applied{}, errors.New("the apply configuration is nil")
	}
	data, err := json.Marshal(config)
	if err != nil {
		return applied{}, fmt.Errorf("%T: %w", config, err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if err := utiljson.Unmarshal(data, &u.Object); err != nil {
		return applied{}, fmt.Errorf("%T: %w", config, err)
	}
	gvk := u.GroupVersionKind()
	if gvk.Kind == "" {
		return applied{}, runtime.NewMissingKindErr(fmt.Sprintf("%T: apply configurations must name their kind", config))
	}
	if gvk.Version == "" {
		return applied{}, runtime.NewMissingVersionErr(fmt.Sprintf("%T: apply configurations must name their version", config))
	}
	dropZeroTime(u)
	return applied{Unstructured: u, kind: ks.get(gvk)}, nil
}

// appliedTo is the apply configuration in a patch, which is YAML, as JSON is. The patch is made to the object of kind k at key: what the
// configuration says of that must be the same, and the namespace may be left out.
func (ks *kinds) appliedTo(k *kind, key types.NamespacedName, patch []byte) (applied, error) {
	refused := func(format string, args ...any) (applied, error) {
		return applied{}, apierrors.NewBadRequest(fmt.Sprintf(format, args...))
	}
	if !json.Valid(patch) {
		converted, err := yaml.YAMLToJSON(patch)
		if err != nil {
			return refused("error decoding YAML: %v", err)
		}
		patch = converted
	}
	a, err := ks.applied(json.RawMessage(patch))
	if err != nil {
		return refused("%v", err)
	}
	if gvk := a.GroupVersionKind(); gvk != k.GroupVersionKind {
		return refused("the patch is of a %s, and made to a %s", gvk, k.GroupVersionKind)
	}
	if a.GetName() != key.Name {
		return refused("the name of the object (%s) does not match the name on the URL (%s)", a.GetName(), key.Name)
	}
	switch namespace := a.GetNamespace(); {
	case namespace == "":
		a.SetNamespace(key.Namespace)
	case key.Namespace != "" && namespace != key.Namespace && !k.has(clusterScoped):
		return refused("the namespace of the provided object does not match the namespace sent on the request")
	}
	return a, nil
}

// checkPatchOptions refuses what a server refuses in the options of a patch.
func checkPatchOptions(apply bool, force *bool, manager string, dryRun []string) error {
	errs := checkWrite(manager, dryRun)
	switch {
	case apply && manager == "":
		errs = append(errs, field.Required(field.NewPath("fieldManager"), "is required for apply patch"))
	case !apply && force != nil:
		errs = append(errs, field.Forbidden(field.NewPath("force"), "may not be specified for non-apply patch"))
	}
	return checkOptions("PatchOptions", errs)
}

// checkWrite returns what a server finds wrong with the options that all writes have.
func checkWrite(manager string, dryRun []string) field.ErrorList {
	return append(metav1validation.ValidateFieldManager(manager, field.NewPath("fieldManager")),
		metav1validation.ValidateDryRun(field.NewPath("dryRun"), dryRun)...)
}

// checkOptions makes the error of a server out of what is wrong with the options of a write.
func checkOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "meta.k8s.io", Kind: kind}, "", errs)
}

// apply does a server-side apply. What does not exist is created, unless it is the subresource of something.
func (s *server) apply(a applied, o writeOptions, force bool) (*entry, error) {
	k := a.kind
	if a.GetName() == "" {
		return nil, k.invalid("", field.Required(field.NewPath("metadata", "name"), "name is required"))
	}
	if len(a.GetManagedFields()) > 0 {
		return nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	a.SetGroupVersionKind(k.stored)
	o.owned, o.anyVersion = true, true
	s.mu.Lock()
	defer s.mu.Unlock()
	if direct, ok := s.store.(*tracked); ok && o.subresource == "" {
		return direct.apply(s, a, o, force)
	}
	old, err := s.store.get(k, k.place(client.ObjectKeyFromObject(a.Unstructured)))
	if err != nil {
		return nil, err
	}
	if old == nil {
		return s.applyNew(a, o, force)
	}
	return s.updateLocked(k, old, func(old *entry) (client.Object, error) {
		live, err := k.asMap(old.obj)
		if err != nil {
			return nil, err
		}
		managed := s.owners.of(k, old.owners)
		live.SetManagedFields(managed)
		// An object that the builder was given belongs to nobody: to scale it takes nothing from anybody.
		return s.merged(a, live, o, force || o.subresource == "scale" && len(managed) == 0)
	}, o)
}

func (s *server) applyNew(a applied, o writeOptions, force bool) (*entry, error) {
	k := a.kind
	if o.subresource != "" {
		return nil, apierrors.NewNotFound(k.resource, a.GetName())
	}
	if uid := a.GetUID(); uid != "" {
		return nil, apierrors.NewConflict(k.resource, a.GetName(),
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	// Servers do not ask for the resourceVersion of an object that is not there yet.
	version := a.GetResourceVersion()
	a.SetResourceVersion("")
	obj, err := s.merged(a, emptyOf(k, a.Unstructured), o, force)
	if err != nil {
		return nil, err
	}
	e, err := s.createLocked(k, obj, o)
	if err == nil && o.dryRun {
		obj.SetResourceVersion(version)
	}
	return e, err
}

// merged returns live with a applied to it, in the stored form and with its managedFields.
func (s *server) merged(a applied, live *unstructured.Unstructured, o writeOptions, force bool) (client.Object, error) {
	next, err := s.owners.apply(a.kind, live, a.DeepCopy(), o, force)
	if err != nil {
		return nil, err
	}
	// What the configuration says about these is asked, not set.
	next.SetResourceVersion(a.GetResourceVersion())
	next.SetUID(a.GetUID())
	obj, err := a.kind.admit(next)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", a.kind.resource, a.GetName(), err.Error(), 0, false)
	}
	return obj, nil
}

// answerApplied makes config what the server answered.
func (s *server) answerApplied(k *kind, e *entry, config any) error {
	u, err := k.asMap(e.obj)
	if err != nil {
		return err
	}
	u.SetGroupVersionKind(k.GroupVersionKind)
	s.addManagedFields(k, e, u)
	return fillApplied(config, u.Object)
}

// fillApplied makes config what object says.
func fillApplied(config any, object map[string]any) error {
	if c, ok := config.(content); ok {
		c.SetUnstructuredContent(object)
		return nil
	}
	dst := reflect.ValueOf(config)
	if dst.Kind() != reflect.Pointer {
		return nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	fresh := reflect.New(dst.Type().Elem())
	if err := json.Unmarshal(data, fresh.Interface()); err != nil {
		return fmt.Errorf("%T: %w", config, err)
	}
	dst.Elem().Set(fresh.Elem())
	return nil
}

// forced returns the value of an option that is nil for false.
func forced(force *bool) bool { return force != nil && *force }
