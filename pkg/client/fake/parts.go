package fake

import (
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operon-dev/operon/pkg/client"
)

// A server looks at three parts of an object: its metadata, its status, and all the rest, which is what is wanted. The
// functions here tell the parts apart, in Go structs by their JSON names. Two objects given to one of them are of one type.

// part is a field of a struct at the top level of an object.
type part struct {
	index []int
	name  string
}

// partsOf remembers the parts of Go types, all but the type and the metadata.
var partsOf sync.Map // reflect.Type → []part

func parts(t reflect.Type) []part {
	if known, ok := partsOf.Load(t); ok {
		return known.([]part)
	}
	var found []part
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inlined := f.Anonymous && (name == "" || strings.Contains(options, "inline"))
		if inlined || !f.IsExported() || name == "-" || len(f.Index) > 1 && !promoted(t, f.Index) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		switch name {
		case "metadata", "kind", "apiVersion":
			continue
		}
		found = append(found, part{index: f.Index, name: name})
	}
	partsOf.Store(t, found)
	return found
}

// promoted says whether a nested field is at the top level of the JSON form: whether everything on the way is inlined.
func promoted(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" {
			return false
		}
		t = f.Type
		if t.Kind() == reflect.Pointer {
			return false
		}
	}
	return true
}

func structOf(obj client.Object) reflect.Value { return reflect.ValueOf(obj).Elem() }

// takeStatus gives dst the status of src. Structs then share it, which they can because what is stored does not change; maps,
// which are still to be normalized, do not.
func takeStatus(dst, src client.Object) {
	if to, ok := dst.(*unstructured.Unstructured); ok {
		if status, ok := src.(*unstructured.Unstructured).Object["status"]; ok {
			to.Object["status"] = runtime.DeepCopyJSONValue(status)
		} else {
			delete(to.Object, "status")
		}
		return
	}
	to, from := structOf(dst), structOf(src)
	for _, p := range parts(to.Type()) {
		if p.name == "status" {
			to.FieldByIndex(p.index).Set(from.FieldByIndex(p.index))
		}
	}
}

// dropStatus leaves obj without a status.
func dropStatus(obj client.Object) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		delete(u.Object, "status")
		return
	}
	v := structOf(obj)
	for _, p := range parts(v.Type()) {
		if p.name == "status" {
			v.FieldByIndex(p.index).SetZero()
		}
	}
}

// sameWanted says whether a and b want the same: whether they are equal but for their metadata and, unless it is counted,
// their status.
func sameWanted(a, b client.Object, countStatus bool) bool {
	if u, ok := a.(*unstructured.Unstructured); ok {
		return sameMaps(u.Object, b.(*unstructured.Unstructured).Object, countStatus)
	}
	va, vb := structOf(a), structOf(b)
	for _, p := range parts(va.Type()) {
		if p.name == "status" && !countStatus {
			continue
		}
		if !equality.Semantic.DeepEqual(va.FieldByIndex(p.index).Interface(), vb.FieldByIndex(p.index).Interface()) {
			return false
		}
	}
	return true
}

func sameMaps(a, b map[string]any, countStatus bool) bool {
	ignored := func(key string) bool {
		switch key {
		case "metadata", "apiVersion", "kind":
			return true
		}
		return key == "status" && !countStatus
	}
	for key, v := range a {
		if ignored(key) {
			continue
		}
		if w, ok := b[key]; !ok || !equality.Semantic.DeepEqual(v, w) {
			return false
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok && !ignored(key) {
			return false
		}
	}
	return true
}
