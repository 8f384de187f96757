package cache

import (
	"bytes"
	"maps"
	"reflect"
	"sync"
	"unsafe"

	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sharer makes the value at a use the parts of the one at b, of the same type, that equal its own. It says whether all of
// them do.
//
// Every object that comes by a list or a watch is compared like this, with hundreds of values in it. By reflection that
// takes as long as decoding it, so what is to be done for a type is found out once, and done by address.
type sharer func(a, b unsafe.Pointer) bool

var sharers sync.Map // reflect.Type → sharer; a property of the program's types

// sharerOf returns the sharer of a type.
func sharerOf(t reflect.Type) sharer {
	if known, ok := sharers.Load(t); ok {
		return known.(sharer)
	}
	made, _ := sharers.LoadOrStore(t, sharerMaker{}.of(t))
	return made.(sharer)
}

// sharerMaker makes the sharers of a type and of those it is made of. It has them by their types, since a type can be part
// of itself.
type sharerMaker map[reflect.Type]*sharer

func (m sharerMaker) of(t reflect.Type) sharer {
	if known := m[t]; known != nil {
		if *known != nil {
			return *known
		}
		return func(a, b unsafe.Pointer) bool { return (*known)(a, b) }
	}
	this := new(sharer)
	m[t] = this
	*this = m.make(t)
	return *this
}

func (m sharerMaker) make(t reflect.Type) sharer {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return sharesEqual(func(a, b *metav1.Time) bool { return a.Time == b.Time })
	case reflect.TypeFor[metav1.MicroTime]():
		return sharesEqual(func(a, b *metav1.MicroTime) bool { return a.Time == b.Time })
	case reflect.TypeFor[quantity.Quantity]():
		return sharesEqual(func(a, b *quantity.Quantity) bool { return *a == *b })
	}
	switch t.Kind() {
	case reflect.String:
		return sharesEqual(func(a, b *string) bool { return *a == *b })
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return equal[uint8]
	case reflect.Int16, reflect.Uint16:
		return equal[uint16]
	case reflect.Int32, reflect.Uint32:
		return equal[uint32]
	case reflect.Int64, reflect.Uint64:
		return equal[uint64]
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return equal[uint]
	case reflect.Float32:
		return equal[float32]
	case reflect.Float64:
		return equal[float64]
	case reflect.Pointer:
		return m.pointer(t)
	case reflect.Struct:
		return m.structure(t)
	case reflect.Slice:
		return m.slice(t)
	case reflect.Map:
		return ofMap(t)
	case reflect.Interface:
		return func(a, b unsafe.Pointer) bool {
			return reflect.NewAt(t, a).Elem().IsNil() && reflect.NewAt(t, b).Elem().IsNil()
		}
	}
	return differs
}

// shareParts makes a use the parts of b that equal its own. It says whether all of them do.
func shareParts[T any](a, b *T) bool {
	return sharerOf(reflect.TypeFor[T]())(unsafe.Pointer(a), unsafe.Pointer(b))
}

// shareObjects is shareParts for pointers to objects; those of different types share nothing.
func shareObjects(a, b any) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Type() == y.Type() && x.Kind() == reflect.Pointer {
		sharerOf(x.Type().Elem())(x.UnsafePointer(), y.UnsafePointer())
	}
}

// differs takes values for different: a type whose parts are not to be looked at.
func differs(_, _ unsafe.Pointer) bool { return false }

// equal compares values that refer to nothing.
func equal[T comparable](a, b unsafe.Pointer) bool { return *(*T)(a) == *(*T)(b) }

// sharesEqual makes a sharer of a comparison of values that are shared as a whole.
func sharesEqual[T any](same func(a, b *T) bool) sharer {
	return func(a, b unsafe.Pointer) bool {
		x, y := (*T)(a), (*T)(b)
		if !same(x, y) {
			return false
		}
		*x = *y
		return true
	}
}

func (m sharerMaker) pointer(t reflect.Type) sharer {
	share := m.of(t.Elem())
	return func(a, b unsafe.Pointer) bool {
		x, y := (*unsafe.Pointer)(a), (*unsafe.Pointer)(b)
		if *x == nil || *y == nil {
			return *x == *y
		}
		if !share(*x, *y) {
			return false
		}
		*x = *y
		return true
	}
}

// structure shares a struct field by field; one with fields that are its own package's business differs from all others.
func (m sharerMaker) structure(t reflect.Type) sharer {
	type part struct {
		offset uintptr
		text   bool // a string, as most fields are: spares a call
		share  sharer
	}
	var parts []part
	for f := range t.Fields() {
		if !f.IsExported() {
			return differs
		}
		parts = append(parts, part{f.Offset, f.Type.Kind() == reflect.String, m.of(f.Type)})
	}
	return func(a, b unsafe.Pointer) bool {
		all := true
		for i := range parts {
			p := &parts[i]
			x, y := unsafe.Add(a, p.offset), unsafe.Add(b, p.offset)
			if !p.text {
				all = p.share(x, y) && all
				continue
			}
			if s, known := (*string)(x), (*string)(y); *s != *known {
				all = false
			} else if *s != "" {
				*s = *known
			}
		}
		return all
	}
}

func (m sharerMaker) slice(t reflect.Type) sharer {
	elem := t.Elem()
	if elem.Kind() == reflect.Uint8 {
		return sharesEqual(func(a, b *[]byte) bool { return (*a == nil) == (*b == nil) && bytes.Equal(*a, *b) })
	}
	size, share := elem.Size(), m.of(elem)
	// Of whatever elements, a slice is an address, a length and a capacity.
	return func(a, b unsafe.Pointer) bool {
		x, y := (*[]struct{})(a), (*[]struct{})(b)
		if *x == nil || *y == nil {
			return *x == nil && *y == nil
		}
		all := len(*x) == len(*y)
		from, known := unsafe.Pointer(unsafe.SliceData(*x)), unsafe.Pointer(unsafe.SliceData(*y))
		for i := range uintptr(min(len(*x), len(*y))) {
			all = share(unsafe.Add(from, i*size), unsafe.Add(known, i*size)) && all
		}
		if all {
			*x = *y
		}
		return all
	}
}

// ofMap shares maps that are equal as a whole. It compares the kinds of maps that objects are full of, and takes others for
// different.
func ofMap(t reflect.Type) sharer {
	same := sameMaps(t)
	if same == nil {
		return func(a, b unsafe.Pointer) bool { return *(*unsafe.Pointer)(a) == nil && *(*unsafe.Pointer)(b) == nil }
	}
	return func(a, b unsafe.Pointer) bool {
		x, y := (*unsafe.Pointer)(a), (*unsafe.Pointer)(b) // a map is an address
		if *x == nil || *y == nil {
			return *x == *y
		}
		if !same(a, b) {
			return false
		}
		*x = *y
		return true
	}
}

// sameMaps compares maps of a type; nil if it cannot.
func sameMaps(t reflect.Type) func(a, b unsafe.Pointer) bool {
	key, elem := t.Key(), t.Elem()
	if key.Kind() != reflect.String {
		return nil
	}
	switch {
	case elem.Kind() == reflect.String:
		return mapsEqual(func(a, b string) bool { return a == b })
	case elem == reflect.TypeFor[quantity.Quantity]():
		return mapsEqual(func(a, b quantity.Quantity) bool { return a == b })
	case elem.Kind() == reflect.Bool:
		return mapsEqual(func(a, b bool) bool { return a == b })
	case elem.Kind() == reflect.Int32:
		return mapsEqual(func(a, b int32) bool { return a == b })
	case elem.Kind() == reflect.Int64 || elem.Kind() == reflect.Int:
		return mapsEqualInts(elem)
	case elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Uint8:
		return mapsEqual(func(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) })
	}
	return nil
}

func mapsEqualInts(elem reflect.Type) func(a, b unsafe.Pointer) bool {
	if elem.Kind() == reflect.Int {
		return mapsEqual(func(a, b int) bool { return a == b })
	}
	return mapsEqual(func(a, b int64) bool { return a == b })
}

func mapsEqual[V any](same func(a, b V) bool) func(a, b unsafe.Pointer) bool {
	return func(a, b unsafe.Pointer) bool {
		return maps.EqualFunc(*(*map[string]V)(a), *(*map[string]V)(b), same)
	}
}
