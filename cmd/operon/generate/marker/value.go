package marker

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// place is where a value stands; it decides on what ends the value and whether it may be a list without braces.
type place uint8

const (
	inArgument place = iota
	inList           // between semicolons
	inBraces
	inKey // before the colon in a map
)

// parser reads values from the text of a marker's arguments.
type parser struct {
	text string
	pos  int
}

func (p *parser) peek() lexeme { return lex(p.text, p.pos) }

func (p *parser) take() lexeme {
	t := p.peek()
	p.pos = t.end
	return t
}

func (p *parser) at(t lexeme) string { return p.text[t.start:t.end] }

// all is the whole text as a lexeme, for mistakes that are about all of it.
func (p *parser) all() lexeme { return lexeme{start: 0, end: len(p.text)} }

func (p *parser) errorf(t lexeme, fix, format string, args ...any) error {
	return &ArgumentError{Offset: t.start, Len: t.end - t.start, What: fmt.Sprintf(format, args...), Fix: fix}
}

// end makes sure that nothing is left.
func (p *parser) end() error {
	t := p.peek()
	if t.kind == tokenEnd {
		return nil
	}
	t.end = len(p.text)
	return p.errorf(t, "quote the value if this is part of it", "%q follows the value", p.at(t))
}

// value reads one value of the type that v has.
func (p *parser) value(v reflect.Value, in place) error {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		return p.value(v.Elem(), in)
	}
	if u, ok := v.Addr().Interface().(Unmarshaler); ok {
		rest := lexeme{start: p.pos, end: len(p.text)}
		p.pos = len(p.text)
		if err := u.UnmarshalMarker(p.at(rest)); err != nil {
			return p.errorf(rest, "", "%v", err)
		}
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		text, err := p.str(in)
		v.SetString(text)
		return err
	case reflect.Bool:
		return p.boolean(v)
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float64:
		return p.number(v)
	case reflect.Slice:
		return p.list(v)
	case reflect.Map:
		return p.mapping(v)
	case reflect.Interface:
		typ, err := p.guess(in)
		if err != nil {
			return err
		}
		value := reflect.New(typ).Elem()
		if err := p.value(value, in); err != nil {
			return err
		}
		v.Set(value)
		return nil
	default:
		return fmt.Errorf("markers have no values of type %s", v.Type())
	}
}

func (p *parser) boolean(v reflect.Value) error {
	t := p.take()
	switch p.at(t) {
	case "true":
		v.SetBool(true)
	case "false":
		v.SetBool(false)
	default:
		return p.errorf(t, "", "%q is neither true nor false", p.at(t))
	}
	return nil
}

func (p *parser) number(v reflect.Value) error {
	t := p.take()
	sign := ""
	if t.kind == '-' {
		sign = "-"
		t = p.take()
	}
	text := sign + p.at(t)
	if v.Kind() == reflect.Float64 {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || t.kind != tokenInteger && t.kind != tokenFloat {
			return p.errorf(t, "", "%q is not a number", text)
		}
		v.SetFloat(f)
		return nil
	}
	n, err := strconv.ParseInt(text, 10, v.Type().Bits())
	if err != nil || t.kind != tokenInteger {
		return p.errorf(t, "", "%q is not an integer", text)
	}
	v.SetInt(n)
	return nil
}

// ends reports whether a character ends an unquoted value.
func ends(c byte, in place) bool { return c == ',' || c == ';' || c == '}' || c == ':' && in == inKey }

// str reads a quoted string, or unquoted text up to a delimiter.
func (p *parser) str(in place) (string, error) {
	t := p.peek()
	switch {
	case t.kind == tokenString:
		p.pos = t.end
		s, err := strconv.Unquote(p.at(t))
		if err != nil {
			return "", p.errorf(t, "write a backslash as \\\\, or quote with backquotes", "%s is not a valid string", p.at(t))
		}
		return s, nil
	case t.kind == tokenEnd, t.kind == ',', t.kind == '}' && in != inBraces:
		p.pos = t.start
		return "", nil
	}
	// Blanks before a delimiter also take the last word with them. That is an accident of the peer's that published
	// manifests have come to rely on.
	start := t.start
	for {
		if t.kind == tokenBroken {
			return "", p.errorf(t, "close it, or quote the whole value", "quote without its closing quote")
		}
		if t.end == len(p.text) || ends(p.text[t.end], in) {
			p.pos = t.end
			return p.text[start:t.end], nil
		}
		next := lex(p.text, t.end)
		if next.kind == tokenEnd || next.end == next.start+1 && ends(p.text[next.start], in) {
			p.pos = next.start
			return p.text[start:t.start], nil
		}
		t = next
	}
}

// list reads {a,b} or a;b.
func (p *parser) list(v reflect.Value) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	separator, in := lexemeKind(';'), inList
	open := p.peek()
	braces := open.kind == '{'
	if braces {
		p.take()
		separator, in = ',', inBraces
	}
	for {
		t := p.peek()
		if braces && t.kind == '}' {
			p.take()
			return nil
		}
		// Nothing, or nothing behind the last semicolon, is no item.
		if !braces && (t.kind == tokenEnd || t.kind == ',') {
			return nil
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if err := p.value(item, in); err != nil {
			return err
		}
		v.Set(reflect.Append(v, item))
		switch t := p.peek(); {
		case t.kind == separator:
			p.take()
		case braces && t.kind == tokenEnd:
			return p.errorf(open, "", "the brace is never closed")
		case braces && t.kind != '}':
			return p.errorf(t, "items in braces are separated by commas", "%q follows an item", p.at(t))
		case !braces:
			return nil
		}
	}
}

// mapping reads {key: value, key: value}.
func (p *parser) mapping(v reflect.Value) error {
	v.Set(reflect.MakeMap(v.Type()))
	open := p.take()
	if open.kind != '{' {
		return p.errorf(open, "{key: value}", "%q does not begin a map", p.at(open))
	}
	for {
		if p.peek().kind == '}' {
			p.take()
			return nil
		}
		key, err := p.str(inKey)
		if err != nil {
			return err
		}
		if t := p.take(); t.kind != ':' {
			return p.errorf(t, "{key: value}", "%q follows the key %q", p.at(t), key)
		}
		value := reflect.New(v.Type().Elem()).Elem()
		if err := p.value(value, inBraces); err != nil {
			return err
		}
		v.SetMapIndex(reflect.ValueOf(key), value)
		switch t := p.peek(); t.kind {
		case ',':
			p.take()
		case '}':
		case tokenEnd:
			return p.errorf(open, "", "the brace is never closed")
		default:
			return p.errorf(t, "entries are separated by commas", "%q follows the value of %q", p.at(t), key)
		}
	}
}

var (
	anyMap    = reflect.TypeFor[map[string]any]()
	stringOf  = reflect.TypeFor[string]()
	boolOf    = reflect.TypeFor[bool]()
	integerOf = reflect.TypeFor[int]()
	floatOf   = reflect.TypeFor[float64]()
)

// guess tells the type of the value that follows: what is neither list, map, boolean nor number is text. The first item decides for a list.
func (p *parser) guess(in place) (reflect.Type, error) {
	t := p.peek()
	if t.kind == '{' {
		return p.guessBraces(t)
	}
	if in != inList {
		ahead := *p
		item, err := ahead.guess(inList)
		if err != nil {
			return nil, err
		}
		if err := ahead.value(reflect.New(item).Elem(), inList); err != nil {
			return nil, err
		}
		if ahead.peek().kind == ';' {
			return reflect.SliceOf(item), nil
		}
	}
	number := t
	if t.kind == '-' {
		number = lex(p.text, t.end)
	}
	after := lex(p.text, number.end)
	alone := after.kind == tokenEnd || after.end == after.start+1 && ends(p.text[after.start], in)
	switch {
	case number.kind == tokenInteger && alone:
		return integerOf, nil
	case number.kind == tokenFloat && alone:
		return floatOf, nil
	case t.kind == tokenName && alone && (p.at(t) == "true" || p.at(t) == "false"):
		return boolOf, nil
	}
	return stringOf, nil
}

// guessBraces tells maps from lists by the colon after the first item.
func (p *parser) guessBraces(open lexeme) (reflect.Type, error) {
	ahead := parser{text: p.text, pos: open.end}
	switch ahead.peek().kind {
	case '}':
		return anyMap, nil
	case '{':
	default:
		key := ahead
		if _, err := key.str(inKey); err != nil {
			return nil, err
		}
		if key.peek().kind == ':' {
			return anyMap, nil
		}
	}
	item, err := ahead.guess(inBraces)
	if err != nil {
		return nil, err
	}
	return reflect.SliceOf(item), nil
}

// RawText is an argument type for the text after the marker's name, as it is.
type RawText string

// UnmarshalMarker takes all of the text.
func (r *RawText) UnmarshalMarker(text string) error {
	*r = RawText(strings.TrimSpace(text))
	return nil
}
