package fake

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operon-dev/operon/pkg/client"
)

// Objects are stored in one of two forms: as the Go type that the scheme has for their kind, or, for kinds that it does not
// know and kinds whose CustomResourceDefinition was given, as a map. What comes in passes through JSON, as it would on its way
// to a server: so nothing is shared with the caller, times have whole seconds, and what is empty is absent.

// encoded returns obj as JSON, whatever its form.
func encoded(obj runtime.Object) ([]byte, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return json.Marshal(u.UnstructuredContent())
	}
	return json.Marshal(obj)
}

// blank returns an empty object in the form in which k is stored.
func (k *kind) blank() client.Object {
	if k.holdsMaps() {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetGroupVersionKind(k.stored)
		return u
	}
	return reflect.New(k.goType).Interface().(client.Object)
}

// admit returns obj in the form in which k is stored.
func (k *kind) admit(obj runtime.Object) (client.Object, error) {
	data, err := encoded(obj)
	if err != nil {
		return nil, err
	}
	return k.decode(data)
}

// decode returns the object that JSON describes, in the form in which k is stored.
func (k *kind) decode(data []byte) (client.Object, error) {
	if k.holdsMaps() {
		content := map[string]any{}
		if err := utiljson.Unmarshal(data, &content); err != nil {
			return nil, err
		}
		if err := coerceMetadata(content); err != nil {
			return nil, err
		}
		u := &unstructured.Unstructured{Object: content}
		u.SetGroupVersionKind(k.stored)
		return u, nil
	}
	obj, ok := reflect.New(k.goType).Interface().(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s: %s has no metadata", k.GroupVersionKind, k.goType)
	}
	if err := utiljson.Unmarshal(data, obj); err != nil {
		return nil, err
	}
	clearKind(obj)
	return obj, nil
}

// clearKind makes a typed object say nothing about its kind: its type does.
func clearKind(obj runtime.Object) { setKind(obj, schema.GroupVersionKind{}) }

func setKind(obj runtime.Object, gvk schema.GroupVersionKind) {
	kind := obj.GetObjectKind()
	if v := reflect.ValueOf(kind); v.Kind() != reflect.Pointer || !v.IsNil() {
		kind.SetGroupVersionKind(gvk)
	}
}

// coerceMetadata makes the metadata of an object what they would be in a Go type: fields that there are not are dropped, and
// values of another type are errors.
func coerceMetadata(content map[string]any) error {
	data, err := json.Marshal(content["metadata"])
	if err != nil {
		return err
	}
	var typed metav1.ObjectMeta
	if err := utiljson.Unmarshal(data, &typed); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	coerced, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
	if err != nil {
		return err
	}
	if coerced["creationTimestamp"] == nil {
		delete(coerced, "creationTimestamp")
	}
	content["metadata"] = coerced
	return nil
}

// dropZeroTime removes the null that Go types write for a time that is not set.
func dropZeroTime(u *unstructured.Unstructured) {
	if m, ok := u.Object["metadata"].(map[string]any); ok && m["creationTimestamp"] == nil {
		delete(m, "creationTimestamp")
	}
}

// asMap returns obj, which is of kind k, as a map that shares nothing with it.
func (k *kind) asMap(obj client.Object) (*unstructured.Unstructured, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.DeepCopy(), nil
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if err := utiljson.Unmarshal(data, &u.Object); err != nil {
		return nil, err
	}
	u.SetGroupVersionKind(k.stored)
	dropZeroTime(u)
	return u, nil
}

// newLike returns an empty object of the type of obj.
func newLike(obj runtime.Object) (runtime.Object, error) {
	switch obj := obj.(type) {
	case *unstructured.Unstructured:
		return &unstructured.Unstructured{}, nil
	case runtime.Unstructured:
		if fresh, ok := obj.NewEmptyInstance().(runtime.Object); ok {
			return fresh, nil
		}
	}
	t := reflect.TypeOf(obj)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("%T cannot receive an object: it is not a pointer", obj)
	}
	return reflect.New(t.Elem()).Interface().(runtime.Object), nil
}

// assign makes dst what src is. Both are of one type.
func assign(dst, src runtime.Object) {
	if to, ok := dst.(runtime.Unstructured); ok {
		to.SetUnstructuredContent(src.(runtime.Unstructured).UnstructuredContent())
		return
	}
	reflect.ValueOf(dst).Elem().Set(reflect.ValueOf(src).Elem())
}

// view returns what e holds as kind k in the form of like. Nothing of it is shared with the store.
func (s *server) view(k *kind, e *entry, like runtime.Object) (runtime.Object, error) {
	switch like.(type) {
	case *metav1.PartialObjectMetadata:
		out := meta.AsPartialObjectMetadata(e.obj).DeepCopy()
		s.addManagedFields(k, e, out)
		out.SetGroupVersionKind(k.GroupVersionKind)
		return out, nil
	case runtime.Unstructured:
		u, err := k.asMap(e.obj)
		if err != nil {
			return nil, err
		}
		u.SetGroupVersionKind(k.GroupVersionKind)
		s.addManagedFields(k, e, u)
		if _, ok := like.(*unstructured.Unstructured); ok {
			return u, nil
		}
		out, err := newLike(like)
		if err != nil {
			return nil, err
		}
		out.(runtime.Unstructured).SetUnstructuredContent(u.Object)
		return out, nil
	}
	out, err := e.typed(like)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", k.Kind, client.ObjectKeyFromObject(e.obj), err)
	}
	s.addManagedFields(k, e, out)
	return out, nil
}

// typed returns a copy of what e holds as the Go type of like.
func (e *entry) typed(like runtime.Object) (client.Object, error) {
	want := reflect.TypeOf(like)
	if reflect.TypeOf(e.obj) == want {
		return e.obj.DeepCopyObject().(client.Object), nil
	}
	if last := e.other.Load(); last != nil && reflect.TypeOf(*last) == want {
		return (*last).DeepCopyObject().(client.Object), nil
	}
	fresh, err := newLike(like)
	if err != nil {
		return nil, err
	}
	obj, ok := fresh.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T has no metadata", like)
	}
	data, err := encoded(e.obj)
	if err != nil {
		return nil, err
	}
	if err := utiljson.Unmarshal(data, obj); err != nil {
		return nil, err
	}
	clearKind(obj)
	e.other.Store(&obj)
	return obj.DeepCopyObject().(client.Object), nil
}

// answer puts what e holds into obj. A typed object forgets which kind it said it was.
func (s *server) answer(k *kind, e *entry, obj runtime.Object) error {
	out, err := s.view(k, e, obj)
	if err != nil {
		return err
	}
	assign(obj, out)
	return nil
}
