package marker

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// ArgumentError is a mistake in a marker's arguments.
type ArgumentError struct {
	// Offset is where in the text of the arguments it is, in bytes, and Len how many bytes it covers.
	Offset, Len int
	What        string
	Fix         string
}

func (e *ArgumentError) Error() string {
	if e.Fix == "" {
		return e.What
	}
	return e.What + ": " + e.Fix
}

// Parse reads the arguments of a marker into a value of the definition's type.
func (d Definition) Parse(text string) (any, error) {
	value := reflect.New(d.typ).Elem()
	if d.start.IsValid() {
		value.Set(d.start)
	}
	if err := d.parseInto(text, value); err != nil {
		return nil, err
	}
	return value.Interface(), nil
}

func (d Definition) parseInto(text string, value reflect.Value) error {
	p := &parser{text: text}
	if d.sole {
		return d.parseSole(p, value)
	}
	if len(d.args) == 0 {
		if strings.TrimSpace(text) != "" {
			return p.errorf(p.all(), "write it without them", "+%s takes no arguments", d.Name)
		}
		return nil
	}
	return d.parseNamed(p, value)
}

func (d Definition) parseSole(p *parser, value reflect.Value) error {
	if strings.TrimSpace(p.text) == "" && !takesNothing(d.typ) {
		if d.args[0].optional {
			return nil
		}
		return p.errorf(p.all(), fmt.Sprintf("+%s=<%s>", d.Name, typeName(d.typ)), "+%s needs a value", d.Name)
	}
	if err := p.value(value, inArgument); err != nil {
		return err
	}
	if t := p.peek(); t.kind == ',' && value.Kind() == reflect.Slice {
		return p.errorf(t, "items are separated by semicolons: a;b", "%q follows the first item", p.text[t.start:])
	}
	return p.end()
}

// takesNothing tells the types whose own grammar knows what an empty text means.
func takesNothing(t reflect.Type) bool { return reflect.PointerTo(t).Implements(unmarshaler) }

func (d Definition) parseNamed(p *parser, value reflect.Value) error {
	seen := map[string]bool{}
	var last *argument
	for p.peek().kind != tokenEnd {
		name := p.take()
		if name.kind != tokenName {
			return p.errorf(name, d.usage(), "%q is not the name of an argument", p.at(name))
		}
		i := slices.IndexFunc(d.args, func(a argument) bool { return a.name == p.at(name) })
		if i < 0 && p.peek().kind != '=' && last != nil && last.typ.Kind() == reflect.Slice {
			return p.errorf(name, fmt.Sprintf("the values of %s are separated by semicolons", last.name), "+%s has no argument %q", d.Name, p.at(name))
		}
		if i < 0 {
			return p.errorf(name, d.suggest(p.at(name)), "+%s has no argument %q", d.Name, p.at(name))
		}
		if p.peek().kind != '=' {
			return p.errorf(name, fmt.Sprintf("%s=<%s>", p.at(name), typeName(d.args[i].typ)), "argument %q has no value", p.at(name))
		}
		p.take()
		if err := p.value(value.Field(d.args[i].field), inArgument); err != nil {
			return err
		}
		seen[p.at(name)] = true
		last = &d.args[i]
		comma := p.take()
		if comma.kind == tokenEnd {
			break
		}
		if comma.kind != ',' {
			return p.errorf(comma, "arguments are separated by commas, and values with special characters are quoted",
				"%q follows the value of %q", p.at(comma), p.at(name))
		}
		if p.peek().kind == tokenEnd {
			return p.errorf(comma, "drop it, or add an argument", "nothing follows the comma")
		}
	}
	for _, a := range d.args {
		if !a.optional && !seen[a.name] {
			return p.errorf(p.all(), d.usage(), "+%s lacks its argument %q", d.Name, a.name)
		}
	}
	return nil
}

func (d Definition) usage() string {
	var args []string
	for _, a := range d.args {
		arg := fmt.Sprintf("%s=<%s>", a.name, typeName(a.typ))
		if a.optional {
			arg = "[" + arg + "]"
		}
		args = append(args, arg)
	}
	return fmt.Sprintf("+%s:%s", d.Name, strings.Join(args, ","))
}

func (d Definition) suggest(name string) string {
	var names []string
	for _, a := range d.args {
		names = append(names, a.name)
	}
	if near := Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	slices.Sort(names)
	return "it has " + strings.Join(names, ", ")
}
