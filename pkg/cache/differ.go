package cache

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxDifferences bounds how many fields are named.
const maxDifferences = 10

// differences are the paths of the fields in which two values of one type differ, nil and empty being different.
func differences(a, b any) []string {
	if u, ok := a.(*unstructured.Unstructured); ok {
		a, b = u.Object, b.(*unstructured.Unstructured).Object
	}
	var d differ
	d.compare("", reflect.ValueOf(a), reflect.ValueOf(b))
	return d.paths
}

type differ struct{ paths []string }

func (d *differ) add(path string) {
	if len(d.paths) < maxDifferences {
		d.paths = append(d.paths, strings.TrimPrefix(path, "."))
	}
}

func (d *differ) compare(path string, a, b reflect.Value) {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		d.add(path)
		return
	}
	switch a.Kind() {
	case reflect.Invalid:
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				d.add(path)
			}
			return
		}
		if a.Kind() == reflect.Pointer && a.Pointer() == b.Pointer() {
			return
		}
		d.compare(path, a.Elem(), b.Elem())
	case reflect.Struct:
		d.compareStructs(path, a, b)
	case reflect.Slice, reflect.Array:
		d.compareSlices(path, a, b)
	case reflect.Map:
		d.compareMaps(path, a, b)
	default:
		if !a.Equal(b) {
			d.add(path)
		}
	}
}

func (d *differ) compareStructs(path string, a, b reflect.Value) {
	t := a.Type()
	for f := range t.Fields() {
		if !f.IsExported() {
			if !sameLeaf(a, b) {
				d.add(path)
			}
			return
		}
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		switch {
		case name == "" && t.Field(i).Anonymous:
			d.compare(path, a.Field(i), b.Field(i))
			continue
		case name == "" || name == "-":
			name = t.Field(i).Name
		}
		d.compare(path+"."+name, a.Field(i), b.Field(i))
	}
}

// sameLeaf compares what reflection cannot look into. A quantity may remember its text once somebody has asked for it.
func sameLeaf(a, b reflect.Value) bool {
	switch x := a.Interface().(type) {
	case quantity.Quantity:
		y := b.Interface().(quantity.Quantity)
		return x.Format == y.Format && x.Cmp(y) == 0
	case time.Time:
		return x.Equal(b.Interface().(time.Time))
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

func (d *differ) compareSlices(path string, a, b reflect.Value) {
	if a.Kind() == reflect.Slice && a.IsNil() != b.IsNil() {
		d.add(path)
		return
	}
	if a.Type().Elem().Kind() == reflect.Uint8 {
		if !reflect.DeepEqual(a.Interface(), b.Interface()) {
			d.add(path)
		}
		return
	}
	for i := range max(a.Len(), b.Len()) {
		at := fmt.Sprintf("%s[%d]", path, i)
		if i >= a.Len() || i >= b.Len() {
			d.add(at)
			continue
		}
		d.compare(at, a.Index(i), b.Index(i))
	}
}

func (d *differ) compareMaps(path string, a, b reflect.Value) {
	if a.IsNil() != b.IsNil() {
		d.add(path)
		return
	}
	var changed []string
	at := map[string]reflect.Value{}
	for _, m := range []reflect.Value{a, b} {
		for _, k := range m.MapKeys() {
			at[fmt.Sprint(k)] = k
		}
	}
	for name := range at {
		changed = append(changed, name)
	}
	slices.Sort(changed)
	for _, name := range changed {
		x, y := a.MapIndex(at[name]), b.MapIndex(at[name])
		step := "." + name
		if strings.ContainsAny(name, "./") || a.Type().Elem().Kind() != reflect.Interface {
			step = fmt.Sprintf("[%s]", name)
		}
		d.compare(path+step, x, y)
	}
}
