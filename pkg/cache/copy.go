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
func copyInto(r *resource, obj, out client.Object, share bool) error {
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
	if share {
		to.Elem().Set(from.Elem())
	} else {
		r.copyStruct(from, to)
	}
	return nil
}

// copyStruct copies what one pointer of the Go type leads to into what another does.
func (r *resource) copyStruct(from, to reflect.Value) {
	if r.deepCopyInto.IsValid() {
		r.deepCopyInto.Call([]reflect.Value{from, to})
		return
	}
	copied := from.Interface().(runtime.Object).DeepCopyObject()
	to.Elem().Set(reflect.ValueOf(copied).Elem())
}

// deepCopyIntoOf is the method by which generated types are copied without an object in between, as a function; not valid
// if a type has none. No interface names it: each type has a signature of its own.
func deepCopyIntoOf(t reflect.Type) reflect.Value {
	m, ok := t.MethodByName("DeepCopyInto")
	if !ok || m.Type != reflect.FuncOf([]reflect.Type{t, t}, nil, false) {
		return reflect.Value{}
	}
	return m.Func
}

// setItems makes the entries the items of a list.
func setItems(r *resource, f form, list client.ObjectList, entries []*entry, share bool) error {
	// each hands over what is to become the i-th item; own says that it need not be copied.
	each := func(set func(i int, obj client.Object, own bool) error) error {
		spread := inParallel
		if share {
			spread = inOrder
		}
		return spread(len(entries), func(i int) error {
			obj, err := entries[i].view(r, f)
			if err != nil {
				return err
			}
			return set(i, obj, share || entries[i].private())
		})
	}
	switch list := list.(type) {
	case *unstructured.UnstructuredList:
		list.Items = make([]unstructured.Unstructured, len(entries))
		return each(func(i int, obj client.Object, own bool) error { return copyInto(r, obj, &list.Items[i], own) })
	case *metav1.PartialObjectMetadataList:
		list.Items = make([]metav1.PartialObjectMetadata, len(entries))
		return each(func(i int, obj client.Object, own bool) error { return copyInto(r, obj, &list.Items[i], own) })
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
	err = each(func(i int, obj client.Object, own bool) error {
		at, v := made.Index(i), reflect.ValueOf(obj)
		switch {
		case v.Type().AssignableTo(at.Type()): // a slice of pointers or of an interface
			if !own {
				v = reflect.ValueOf(obj.DeepCopyObject())
			}
			at.Set(v)
		case v.Type().Elem() != at.Type():
			return fmt.Errorf("%T: cannot hold a %T", list, obj)
		case own:
			at.Set(v.Elem())
		default:
			r.copyStruct(v, at.Addr())
		}
		return nil
	})
	if err != nil {
		return err
	}
	items.Set(made)
	return nil
}
