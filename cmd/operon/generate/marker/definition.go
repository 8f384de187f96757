package marker

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Target is what markers stand on: a set of bits.
type Target uint8

// The targets.
const (
	OnPackage Target = 1 << iota
	OnType
	OnField
)

func (t Target) String() string {
	var names []string
	for i, name := range []string{"package", "type", "field"} {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// Help explains a marker, or a generator with its options.
type Help struct {
	// Category groups markers in listings.
	Category string
	// Summary is one line; it reads on from the marker's name.
	Summary string
	// Details is any further text.
	Details string
	// Fields has a line for each argument, by its Go name; "" is the key for that of a marker with a single, unnamed argument.
	Fields map[string]string
	// Deprecated is the marker to use instead.
	Deprecated string
}

// Definition is a marker that some generator knows.
type Definition struct {
	Name string
	On   Target
	Help Help

	typ  reflect.Type
	args []argument
	// sole tells that the marker has one unnamed argument: +name=value.
	sole bool
	// start is the value that arguments are read into; not valid means the zero value.
	start reflect.Value
}

// argument is a named argument of a marker.
type argument struct {
	name     string
	goName   string
	field    int
	optional bool
	typ      reflect.Type
}

// Unmarshaler is an argument type that reads the text after "=" itself, up to its end.
type Unmarshaler interface {
	UnmarshalMarker(text string) error
}

var unmarshaler = reflect.TypeFor[Unmarshaler]()

// Define defines a marker with arguments of type T. Where T is a struct, each exported field is an argument, called as the field with its
// first letter in lower case unless a tag says otherwise:
//
//	Name     string `marker:"name"`
//	Priority int    `marker:",optional"`
//
// Fields of pointer types are optional too. A struct without fields makes a marker without arguments; any other T makes one with a
// single unnamed argument, +name=value, that may be missing where T is a pointer. T or *T may be an [Unmarshaler].
func Define[T any](name string, on Target, help Help) Definition {
	return define(name, on, help, reflect.TypeFor[T]())
}

func define(name string, on Target, help Help, typ reflect.Type) Definition {
	d := Definition{Name: name, On: on, Help: help, typ: typ}
	if typ.Kind() != reflect.Struct || reflect.PointerTo(typ).Implements(unmarshaler) {
		d.sole = true
		d.args = []argument{{optional: typ.Kind() == reflect.Pointer, typ: typ}}
		return d
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("marker"), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			first, size := utf8.DecodeRuneInString(f.Name)
			name = string(unicode.ToLower(first)) + f.Name[size:]
		}
		d.args = append(d.args, argument{
			name: name, goName: f.Name, field: i, typ: f.Type,
			optional: options == "optional" || f.Type.Kind() == reflect.Pointer,
		})
	}
	return d
}

// Options defines the options of a generator or output rule, which have the grammar of markers: value is one of T, and options
// are read into a copy of it.
func Options(name string, value any, help Help) Definition {
	d := define(name, OnPackage, help, reflect.TypeOf(value))
	d.start = reflect.ValueOf(value)
	return d
}

// Type is the Go type of the marker's values.
func (d Definition) Type() reflect.Type { return d.typ }

// Argument describes an argument for listings.
type Argument struct {
	// Name is empty for the sole argument of a marker.
	Name string
	// GoName is the key of [Help.Fields].
	GoName string
	// Type is written as in listings: string, int, bool, any, []string; empty for text with a grammar of its own.
	Type     string
	Optional bool
}

// Arguments lists the arguments in the order of declaration.
func (d Definition) Arguments() []Argument {
	var out []Argument
	for _, a := range d.args {
		out = append(out, Argument{Name: a.name, GoName: a.goName, Type: typeName(a.typ), Optional: a.optional})
	}
	return out
}

func typeName(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(unmarshaler) || t.Implements(unmarshaler) {
		return ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Map:
		return "map[string]" + typeName(t.Elem())
	case reflect.Interface:
		return "any"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "int"
	case reflect.Float64:
		return "number"
	default:
		return t.Kind().String()
	}
}

// Registry is a set of definitions.
type Registry struct {
	defs map[string][]Definition
	list []Definition
}

// NewRegistry composes lists of definitions. The same definition may occur several times: generators share markers. It panics when two
// of the same name and target have different arguments, which is a programming error.
func NewRegistry(groups ...[]Definition) *Registry {
	r := &Registry{defs: map[string][]Definition{}}
	for _, group := range groups {
		for _, d := range group {
			r.add(d)
		}
	}
	return r
}

func (r *Registry) add(d Definition) {
	for _, have := range r.defs[d.Name] {
		if have.On&d.On == 0 {
			continue
		}
		if have.typ != d.typ {
			panic(fmt.Sprintf("marker %s on a %s is defined with %s and with %s", d.Name, have.On&d.On, have.typ, d.typ))
		}
		d.On &^= have.On
	}
	if d.On != 0 {
		r.defs[d.Name] = append(r.defs[d.Name], d)
		r.list = append(r.list, d)
	}
}

// Definitions lists the definitions in the order of their addition.
func (r *Registry) Definitions() []Definition { return r.list }

// Lookup finds the definition for a marker's text without its plus sign, and splits off the arguments. It tells a marker's name from that of
// its first argument by what is defined.
func (r *Registry) Lookup(text string, on Target) (d Definition, args string, ok bool) {
	name, args := splitName(text)
	if d, ok := r.named(name, on); ok {
		return d, args, true
	}
	i := strings.LastIndexByte(name, ':')
	if i < 0 || !strings.Contains(text, "=") {
		return Definition{}, "", false
	}
	d, ok = r.named(name[:i], on)
	switch {
	case !ok:
		return Definition{}, "", false
	case d.sole:
		// A name for the argument that has none: controller-gen passes over it, and published APIs have such markers.
		return d, args, true
	}
	return d, strings.TrimPrefix(text[i+1:], ":"), true
}

func (r *Registry) named(name string, on Target) (Definition, bool) {
	for _, d := range r.defs[name] {
		if d.On&on != 0 {
			return d, true
		}
	}
	return Definition{}, false
}

// splitName splits "a:b=c" and "a:b:=c" after the name, which is a:b. Blanks around it are part of it, so that nobody knows it then.
func splitName(text string) (name, args string) {
	i := strings.IndexByte(text, '=')
	if i < 0 {
		return text, ""
	}
	return strings.TrimSuffix(text[:i], ":"), text[i+1:]
}
