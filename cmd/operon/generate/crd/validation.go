package crd

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// schemaMarker is a marker that changes the schema of the type or field that it stands on.
type schemaMarker struct {
	marker.Definition
	apply func(c *change, value any) error
	// items tells that it is about the items of an array.
	items bool
}

// change is a schema to be changed, and what it is the schema of.
type change struct {
	*Schema
	pkg *load.Package
	// typ is nil for a field.
	typ *marker.Type
	// at is where the marker stands.
	at marker.Span
}

// rule adds a rule that the marker says or means.
func (c *change) rule(r Rule) {
	r.at = ruleOrigin(c.pkg, c.at)
	c.Validations = append(c.Validations, r)
}

// on defines a schema marker.
func on[T any](name string, target marker.Target, help marker.Help, apply func(c *change, value T) error) schemaMarker {
	return schemaMarker{
		Definition: marker.Define[T](name, target, help),
		apply:      func(c *change, value any) error { return apply(c, value.(T)) },
	}
}

const onBoth = marker.OnType | marker.OnField

// validation defines +kubebuilder:validation:<name> for types and fields, and +kubebuilder:validation:items:<name> for the items of arrays.
func validation[T any](name, summary string, apply func(c *change, value T) error) []schemaMarker {
	plain := on("kubebuilder:validation:"+name, onBoth, marker.Help{Category: "CRD validation", Summary: summary}, apply)
	items := on("kubebuilder:validation:items:"+name, onBoth, marker.Help{Category: "CRD validation", Summary: "for the items of an array: " + summary}, apply)
	items.items = true
	return []schemaMarker{plain, items}
}

// apply applies the markers of a type or field to its schema, in the order of the list.
func (b *builder) apply(s *Schema, pkg *load.Package, target marker.Target, values marker.Values, places marker.Places, typ *marker.Type) {
	if len(values) == 0 {
		return
	}
	for _, m := range schemaMarkers {
		if m.On&target == 0 {
			continue
		}
		for i, value := range values[m.Name] {
			c := &change{Schema: s, pkg: pkg, typ: typ, at: places[m.Name][i]}
			err := error(nil)
			if m.items {
				c.Schema = s.Items
				if s.Type != "array" || s.Items == nil {
					err = fmt.Errorf("+%s is for arrays, and this is %s", m.Name, describeType(s))
				}
			}
			if err == nil {
				err = m.apply(c, value)
			}
			if err != nil {
				at := argumentAt(places[m.Name][i], err)
				b.mistake(pkg, at.Pos, at.Len, "", "%v", err)
			}
		}
	}
}

// argumentError is a mistake in one argument of a marker, whose name is empty for a sole one.
type argumentError struct {
	argument string
	error
}

func inArgument(name, format string, args ...any) error {
	return &argumentError{argument: name, error: fmt.Errorf(format, args...)}
}

// argumentAt is the place of the argument that an error is about, or that of the marker.
func argumentAt(at marker.Span, err error) marker.Span {
	var in *argumentError
	if errors.As(err, &in) {
		return at.Argument(in.argument)
	}
	return at
}

func describeType(s *Schema) string {
	switch {
	case s.Type == "array" && s.Items == nil:
		return "a type that is declared elsewhere: put the marker there"
	case s.Type != "":
		return article(s.Type)
	case s.IntOrString:
		return "an integer or a string"
	case s.ref != nil:
		return "the type " + s.ref.name
	default:
		return "a value of any type"
	}
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// need reports a marker on a schema of another type.
func need(c *change, marker, what string, ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%s is for %s, and this is %s", marker, what, describeType(c.Schema))
}

func numeric(c *change) bool { return c.Type == "integer" || c.Type == "number" }
func textual(c *change) bool { return c.Type == "string" || c.IntOrString }
func array(c *change) bool   { return c.Type == "array" }
func object(c *change) bool  { return c.Type == "object" }

// Number is the argument of markers for bounds: an integer or a decimal fraction.
type Number float64

// UnmarshalMarker reads the number.
func (n *Number) UnmarshalMarker(text string) error {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if strings.TrimSpace(text) == "" {
		return errors.New("a number is missing: write it behind an equals sign")
	}
	if err != nil {
		return fmt.Errorf("%q is not a number", strings.TrimSpace(text))
	}
	*n = Number(f)
	return nil
}

// JSON is the argument of markers for values written as JSON.
type JSON struct {
	Value any `marker:"value"`
	// Reference tells of a value that refers to a constant, ref(...), which counts for Go code only.
	reference bool
}

// UnmarshalMarker reads the value.
func (j *JSON) UnmarshalMarker(text string) error {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "ref(") {
		j.reference = true
		return nil
	}
	if err := json.Unmarshal([]byte(text), &j.Value); err != nil {
		return fmt.Errorf("%s is not JSON: strings are quoted, objects are {\"key\": value}", text)
	}
	return nil
}

// length defines a marker for a bound on a count.
func length(name, summary, what string, fits func(*change) bool, field func(*Schema) **int64) []schemaMarker {
	return validation(name, summary, func(c *change, n int) error {
		*field(c.Schema) = new(int64(n))
		return need(c, name, what, fits(c))
	})
}

// limit defines a marker for a bound on a number.
func limit(name, summary string, field func(*Schema) **float64) []schemaMarker {
	return validation(name, summary, func(c *change, n Number) error { return setLimit(c, name, n, field(c.Schema)) })
}

func setLimit(c *change, name string, n Number, field **float64) error {
	if err := need(c, name, "numbers", numeric(c)); err != nil {
		return err
	}
	if c.Type == "integer" && float64(n) != math.Trunc(float64(n)) {
		return inArgument("", "%s of an integer is an integer, not %v", name, float64(n))
	}
	*field = new(float64(n))
	return nil
}

// flag defines a marker for something that is so or not.
func flag(name, summary string, field func(*Schema) *bool) []schemaMarker {
	return validation(name, summary, func(c *change, on bool) error {
		*field(c.Schema) = on
		return nil
	})
}

// oneOf defines a marker on a struct that counts which of its fields are set.
func oneOf(name, summary string, rule func(fields []string) Rule) schemaMarker {
	return on("kubebuilder:validation:"+name, marker.OnType, marker.Help{Category: "CRD validation", Summary: summary},
		func(c *change, fields []string) error {
			if len(fields) == 0 {
				return errors.New("+kubebuilder:validation:" + name + " names no field")
			}
			c.rule(rule(fields))
			return nil
		})
}

func has(fields []string, format, separator string) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = fmt.Sprintf(format, f)
	}
	return strings.Join(parts, separator)
}
