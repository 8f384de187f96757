package conversion

import (
	"fmt"
	"go/types"
	"strings"
)

// value is a value of the one type in the place in, that is to become one of the other type in the place out. Both places are addressable, and
// out is empty.
type value struct {
	*converter
	from, to types.Type
	in, out  string
	label    label
	depth    int
}

// label says in an error which value it is about.
type label struct {
	text string
	args []string
}

func (l label) index(verb, arg string) label {
	return label{l.text + "[" + verb + "]", append(append([]string(nil), l.args...), arg)}
}

// wrap is an expression for an error about the value.
func (v value) wrap(err string) string {
	if v.label.text == "" {
		return err
	}
	args := append(append([]string(nil), v.label.args...), err)
	return fmt.Sprintf("%s.Errorf(%q, %s)", v.imports.name("fmt"), v.label.text+": %w", strings.Join(args, ", "))
}

// write writes statements that convert the value. It returns why it cannot.
func (v value) write(b *strings.Builder) (why string) {
	if fn := v.person(); fn != "" {
		v.call(b, fn)
		return ""
	}
	if expr, ok := v.expression(); ok {
		fmt.Fprintf(b, "%s = %s\n", v.out, expr)
		return ""
	}
	from, to := v.from.Underlying(), v.to.Underlying()
	if f, ok := types.Unalias(v.from).(*types.Named); ok {
		if t, ok := types.Unalias(v.to).(*types.Named); ok && isStruct(f) && isStruct(t) {
			v.call(b, v.want(pair{from: f, to: t}))
			return ""
		}
	}
	switch f := from.(type) {
	case *types.Basic:
		if t, ok := to.(*types.Basic); ok {
			return v.number(b, f, t)
		}
	case *types.Pointer:
		if t, ok := to.(*types.Pointer); ok {
			return v.pointer(b, f, t)
		}
		return "a pointer can be nil, for which the other has no value"
	case *types.Slice:
		if t, ok := to.(*types.Slice); ok {
			return v.slice(b, f, t)
		}
	case *types.Map:
		if t, ok := to.(*types.Map); ok {
			return v.mapping(b, f, t)
		}
	}
	return fmt.Sprintf("the one is %s, the other %s", v.source(v.from), v.source(v.to))
}

func isStruct(t types.Type) bool {
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// person is the function that the author of the package wrote for the two types. Where it calls the generated one, that is written too.
func (v value) person() string {
	fn := v.hand.functions[[2]string{typeKey(v.from), typeKey(v.to)}]
	if fn == "" {
		return ""
	}
	f, okFrom := types.Unalias(v.from).(*types.Named)
	t, okTo := types.Unalias(v.to).(*types.Named)
	if okFrom && okTo && isStruct(f) && isStruct(t) {
		if auto := (pair{from: f, to: t, lenient: true}); v.pkg.Mentions(v.name(auto) + "(") {
			v.want(auto)
		}
	}
	return fn
}

// call calls a function that converts.
func (v value) call(b *strings.Builder, fn string) {
	fmt.Fprintf(b, "if err := %s(%s, %s); err != nil {\nreturn %s\n}\n", fn, address(v.in), address(v.out), v.wrap("err"))
}

// address is a pointer to a place.
func address(place string) string {
	if inner, ok := strings.CutPrefix(place, "*"); ok {
		return inner
	}
	return "&" + place
}

// operand is a place as the operand of an index or selector.
func operand(place string) string {
	if strings.HasPrefix(place, "*") {
		return "(" + place + ")"
	}
	return place
}

// expression is the value itself where it is of the other type, and a conversion of Go's where the two differ by name only.
func (v value) expression() (string, bool) {
	if types.Identical(v.from, v.to) {
		return v.in, true
	}
	from, to := v.from.Underlying(), v.to.Underlying()
	if isStruct(v.from) && isStruct(v.to) {
		// Between structs whose names are the same to Go the markers of their fields count.
		_, fromNamed := types.Unalias(v.from).(*types.Named)
		_, toNamed := types.Unalias(v.to).(*types.Named)
		if fromNamed && toNamed {
			return "", false
		}
	}
	if !types.IdenticalIgnoreTags(from, to) {
		return "", false
	}
	typ := v.source(v.to)
	if strings.HasPrefix(typ, "*") {
		typ = "(" + typ + ")"
	}
	return typ + "(" + v.in + ")", true
}

// sizes are those of integers in bytes. The size of int and uint depends on the machine.
var sizes = map[types.BasicKind]int{
	types.Int8: 1, types.Int16: 2, types.Int32: 4, types.Int64: 8, types.Uint8: 1, types.Uint16: 2, types.Uint32: 4, types.Uint64: 8,
}

func sizeBounds(k types.BasicKind) (least, most int, ok bool) {
	if k == types.Int || k == types.Uint {
		return 4, 8, true
	}
	size, ok := sizes[k]
	return size, size, ok
}

// number converts between basic types that differ.
func (v value) number(b *strings.Builder, f, t *types.Basic) string {
	if f.Kind() == types.Float32 && t.Kind() == types.Float64 {
		fmt.Fprintf(b, "%s = %s(%s)\n", v.out, v.source(v.to), v.in)
		return ""
	}
	_, most, okFrom := sizeBounds(f.Kind())
	least, _, okTo := sizeBounds(t.Kind())
	if !okFrom || !okTo || f.Info()&types.IsUnsigned != t.Info()&types.IsUnsigned {
		return fmt.Sprintf("the one is %s, the other %s", f.Name(), t.Name())
	}
	fmt.Fprintf(b, "%s = %s(%s)\n", v.out, v.source(v.to), v.in)
	if most > least {
		args := append(append([]string(nil), v.label.args...), v.in)
		fmt.Fprintf(b, "if %s(%s) != %s {\nreturn %s.Errorf(%q, %s)\n}\n", v.source(v.from), v.out, v.in,
			v.imports.name("fmt"), strings.TrimPrefix(v.label.text+": ", ": ")+"%d is out of the range of "+t.Name(), strings.Join(args, ", "))
	}
	return ""
}

func (v value) pointer(b *strings.Builder, f, t *types.Pointer) string {
	inner := v
	inner.from, inner.to, inner.in, inner.out = f.Elem(), t.Elem(), "*"+v.in, "*"+v.out
	if strings.HasPrefix(v.in, "*") || strings.HasPrefix(v.out, "*") {
		return "a pointer to a pointer is not converted"
	}
	var body strings.Builder
	if why := inner.write(&body); why != "" {
		return why
	}
	fmt.Fprintf(b, "if %s != nil {\n%s = new(%s)\n%s}\n", v.in, v.out, v.source(t.Elem()), body.String())
	return ""
}

func (v value) slice(b *strings.Builder, f, t *types.Slice) string {
	i := v.variable("i")
	inner := v
	inner.depth++
	inner.from, inner.to, inner.in, inner.out = f.Elem(), t.Elem(), operand(v.in)+"["+i+"]", operand(v.out)+"["+i+"]"
	inner.label = v.label.index("%d", i)
	var body strings.Builder
	if why := inner.write(&body); why != "" {
		return why
	}
	fmt.Fprintf(b, "if %s != nil {\n%s = make(%s, len(%s))\nfor %s := range %s {\n%s}\n}\n", v.in, v.out, v.source(v.to), v.in, i, v.in, body.String())
	return ""
}

func (v value) mapping(b *strings.Builder, f, t *types.Map) string {
	key, item, result := v.variable("key"), v.variable("value"), v.variable("result")
	keys := v
	keys.from, keys.to, keys.in = f.Key(), t.Key(), key
	keyExpr, ok := keys.expression()
	if !ok {
		return "their keys differ: " + v.source(f.Key()) + " and " + v.source(t.Key())
	}
	inner := v
	inner.depth++
	inner.from, inner.to, inner.in, inner.out = f.Elem(), t.Elem(), item, result
	inner.label = v.label.index("%v", key)
	var body strings.Builder
	if why := inner.write(&body); why != "" {
		return why
	}
	fmt.Fprintf(b, "if %s != nil {\n%s = make(%s, len(%s))\nfor %s, %s := range %s {\nvar %s %s\n%s%s[%s] = %s\n}\n}\n",
		v.in, v.out, v.source(v.to), v.in, key, item, v.in, result, v.source(t.Elem()), body.String(), operand(v.out), keyExpr, result)
	return ""
}

// variable is a name that no loop around this one has.
func (v value) variable(name string) string {
	if v.depth == 0 {
		return name
	}
	return fmt.Sprintf("%s%d", name, v.depth+1)
}
