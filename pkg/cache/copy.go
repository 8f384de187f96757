package cache

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operon-dev/operon/pkg/client"
)

// copyInto puts a cached object into the caller's: a copy, or with share the top-level struct only.
func copyInto(obj, out client.Object, share bool) error {
	switch out := out.(type) {
	case *unstructured.Unstructured:
		if share {
			*out = *obj.(*unstructured.Unstructured)
		} else {
			obj.(*unstructured.Unstructured).DeepCopyInto(out)
		}
		return nil
	case *metav1.PartialObjectMetadata:
		if share {
			*out = *obj.(*metav1.PartialObjectMetadata)
		} else {
			obj.(*metav1.PartialObjectMetadata).DeepCopyInto(out)
		}
		return nil
	}
	if u, ok := out.(runtime.Unstructured); ok {
		if !share {
			obj = obj.DeepCopyObject().(client.Object)
		}
		u.SetUnstructuredContent(obj.(runtime.Unstructured).UnstructuredContent())
		return nil
	}
	to, from := reflect.ValueOf(out), reflect.ValueOf(obj)
	if to.Type() != from.Type() {
		return fmt.Errorf("%s: the cache holds a %T, not a %T", client.ObjectKeyFromObject(obj), obj, out)
	}
	if !share {
		from = reflect.ValueOf(obj.DeepCopyObject())
	}
	to.Elem().Set(from.Elem())
	return nil
}

// setItems makes the entries the items of a list.
func setItems(r *resource, f form, list client.ObjectList, entries []*entry, share bool) error {
	switch list := list.(type) {
	case *unstructured.UnstructuredList:
		list.Items = make([]unstructured.Unstructured, len(entries))
		for i, e := range entries {
			obj, err := e.view(r, f)
			if err != nil {
				return err
			}
			if err := copyInto(obj, &list.Items[i], share); err != nil {
				return err
			}
		}
		return nil
	case *metav1.PartialObjectMetadataList:
		list.Items = make([]metav1.PartialObjectMetadata, len(entries))
		for i, e := range entries {
			obj, err := e.view(r, f)
			if err != nil {
				return err
			}
			if err := copyInto(obj, &list.Items[i], share); err != nil {
				return err
			}
		}
		return nil
	}
	ptr, err := meta.GetItemsPtr(list)
	if err != nil {
		return err
	}
	items := reflect.ValueOf(ptr).Elem()
	if items.Kind() != reflect.Slice {
		return fmt.Errorf("%T: its items are no slice", list)
	}
	made := reflect.MakeSlice(items.Type(), len(entries), len(entries))
	for i, e := range entries {
		obj, err := e.view(r, f)
		if err != nil {
			return err
		}
		if !share {
			obj = obj.DeepCopyObject().(client.Object)
		}
		v := reflect.ValueOf(obj)
		if at := made.Index(i); v.Type().AssignableTo(at.Type()) { // a slice of pointers or of an interface
			at.Set(v)
		} else if v.Type().Elem() == at.Type() {
			at.Set(v.Elem())
		} else {
			return fmt.Errorf("%T: cannot hold a %T", list, obj)
		}
	}
	items.Set(made)
	return nil
}
