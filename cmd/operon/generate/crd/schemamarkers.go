package crd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

type none struct{}

var (
	processing = func(summary string) marker.Help { return marker.Help{Category: "CRD processing", Summary: summary} }
	validating = func(summary string) marker.Help { return marker.Help{Category: "CRD validation", Summary: summary} }
)

// schemaMarkers are the markers that change schemas, in the order in which they are applied: what a schema is comes before what depends on
// it.
var schemaMarkers = slices.Concat(
	validation("Type", "the type in JSON, in place of the one that the Go type has.", func(c *change, typ string) error {
		c.Type = typ
		return nil
	}),
	validation("Format", "a format of the value, such as date-time.", func(c *change, format string) error {
		c.Format = format
		return nil
	}),
	validation("XIntOrString", "the value is an integer or a string.", func(c *change, _ none) error {
		c.IntOrString = true
		return nil
	}),
	validation("XPreserveUnknownFields", "fields without a schema are kept.", preserve),
	validation("XEmbeddedResource", "the object is a resource, with apiVersion, kind and metadata.", embedResource),
	[]schemaMarker{
		on("kubebuilder:validation:EmbeddedResource", marker.OnField, validating("the object is a resource, with apiVersion, kind and metadata."), embedResource),
		on("kubebuilder:pruning:PreserveUnknownFields", onBoth, processing("fields without a schema are kept."), preserve),
		on("listType", onBoth, processing("how a list is merged: atomic, set or map."), listType),
		on("k8s:listType", onBoth, processing("how a list is merged: atomic, set or map."), listType),
		on("listMapKey", onBoth, processing("a field that identifies the items of a list whose listType is map; may be repeated."), listMapKey),
		on("k8s:listMapKey", onBoth, processing("a field that identifies the items of a list whose listType is map; may be repeated."), listMapKey),
		on("mapType", onBoth, processing("how a map is merged: granular or atomic."), func(c *change, typ string) error {
			if err := need(c, "+mapType", "objects", object(c)); err != nil {
				return err
			}
			return atomicity(c, "+mapType", typ)
		}),
		on("structType", onBoth, processing("how a struct is merged: granular or atomic."), func(c *change, typ string) error {
			if err := need(c, "+structType", "objects", object(c) || c.Type == ""); err != nil {
				return err
			}
			return atomicity(c, "+structType", typ)
		}),
		on("k8s:enum", marker.OnType, marker.Help{Category: "CRD", Summary: "the value is one of the type's constants."}, enumOfConstants),
	},
	validation("Enum", "the value is one of these.", func(c *change, values []any) error {
		c.Enum = values
		return nil
	}),
	limit("Maximum", "the greatest value.", func(s *Schema) **float64 { return &s.Maximum }),
	limit("Minimum", "the least value.", func(s *Schema) **float64 { return &s.Minimum }),
	limit("MultipleOf", "what the value is a multiple of.", func(s *Schema) **float64 { return &s.MultipleOf }),
	flag("ExclusiveMaximum", "the value is below Maximum.", func(s *Schema) *bool { return &s.ExclusiveMaximum }),
	flag("ExclusiveMinimum", "the value is above Minimum.", func(s *Schema) *bool { return &s.ExclusiveMinimum }),
	length("MaxLength", "how long the string is at most, in characters.", "strings", textual, func(s *Schema) **int64 { return &s.MaxLength }),
	length("MinLength", "how long the string is at least, in characters.", "strings", textual, func(s *Schema) **int64 { return &s.MinLength }),
	validation("Pattern", "a regular expression that the string matches.", func(c *change, pattern string) error {
		c.Pattern = pattern
		return need(c, "Pattern", "strings", textual(c))
	}),
	length("MaxItems", "how many items the list has at most.", "arrays", array, func(s *Schema) **int64 { return &s.MaxItems }),
	length("MinItems", "how many items the list has at least.", "arrays", array, func(s *Schema) **int64 { return &s.MinItems }),
	flag("UniqueItems", "no item occurs twice. The API server refuses it: prefer +listType=set.", func(s *Schema) *bool { return &s.UniqueItems }),
	length("MaxProperties", "how many keys the map has at most.", "objects", object, func(s *Schema) **int64 { return &s.MaxProperties }),
	length("MinProperties", "how many keys the map has at least.", "objects", object, func(s *Schema) **int64 { return &s.MinProperties }),
	validation("XValidation", "a rule in CEL that the value obeys.", func(c *change, rule Rule) error {
		c.rule(rule)
		return nil
	}),
	[]schemaMarker{
		oneOf("AtMostOneOf", "at most one of these fields is set.", func(fields []string) Rule {
			return Rule{Rule: has(fields, "(has(self.%s)?1:0)", "+") + " <= 1", Message: fmt.Sprintf("at most one of the fields in %v may be set", fields)}
		}),
		oneOf("ExactlyOneOf", "exactly one of these fields is set.", func(fields []string) Rule {
			return Rule{Rule: has(fields, "(has(self.%s)?1:0)", "+") + " == 1", Message: fmt.Sprintf("exactly one of the fields in %v must be set", fields)}
		}),
		oneOf("AtLeastOneOf", "at least one of these fields is set.", func(fields []string) Rule {
			return Rule{Rule: has(fields, "has(self.%s)", "||"), Message: fmt.Sprintf("at least one of the fields in %v must be set", fields)}
		}),
		on("k8s:maximum", marker.OnField, validating("the greatest value."), func(c *change, n Number) error {
			return setLimit(c, "+k8s:maximum", n, &c.Maximum)
		}),
		on("k8s:minimum", marker.OnField, validating("the least value."), func(c *change, n Number) error {
			return setLimit(c, "+k8s:minimum", n, &c.Minimum)
		}),
		on("k8s:maxItems", marker.OnField, validating("how many items the list has at most."), func(c *change, n int) error {
			c.MaxItems = new(int64(n))
			return need(c, "+k8s:maxItems", "arrays", array(c))
		}),
		on("k8s:required", marker.OnField, validating("the field is required, and not empty."), notEmpty),
		on("k8s:immutable", marker.OnField, validating("the field does not change once it is set."), func(c *change, _ none) error {
			c.rule(Rule{Rule: "self == oldSelf", Message: "field is immutable"})
			return nil
		}),
		on("nullable", marker.OnField, validating("the value may be null."), func(c *change, _ none) error {
			c.Nullable = true
			return nil
		}),
		on("default", marker.OnField, validating("the value of a field that is not set, in JSON."), func(c *change, value JSON) error {
			if !value.reference {
				c.Default = &Value{value.Value}
			}
			return nil
		}),
		on("kubebuilder:default", marker.OnField, validating("the value of a field that is not set."), defaultTo),
		on("kubebuilder:example", marker.OnField, validating("a value as an example."), func(c *change, value any) error {
			c.Example = &Value{value}
			return nil
		}),
		on("kubebuilder:title", onBoth, validating("a title for documentation."), func(c *change, value any) error {
			title, ok := value.(string)
			if !ok {
				return errors.New("a title is text: quote it")
			}
			c.Title = title
			return nil
		}),
		on(overrideMarker, marker.OnField, marker.Help{
			Category: "CRD validation of Operon's own",
			Summary:  "the bounds, pattern, enum and rules of this field replace those of its type, and of the same field in a struct that is embedded, instead of adding to them.",
		}, func(c *change, _ none) error {
			c.overrides = true
			return nil
		}),
		on("operon:maxDescLen", onBoth, marker.Help{
			Category: "CRD validation of Operon's own",
			Summary:  "how long the description of this type or field is at most; 0 leaves it out.",
		}, func(c *change, length int) error {
			c.Description = shorten(c.Description, length)
			return nil
		}),
		on("kubebuilder:externalDocs", onBoth, marker.Help{Category: "CRD", Summary: "where more is written about it."}, func(c *change, docs ExternalDocs) error {
			c.ExternalDocs = &docs
			return nil
		}),
	},
)

const overrideMarker = "operon:validation:override"

// defaultTo sets a default in the grammar of markers, where empty braces may be an empty list as well as an empty object.
func defaultTo(c *change, value any) error {
	if fields, ok := value.(map[string]any); ok && len(fields) == 0 && array(c) {
		value = []any{}
	}
	c.Default = &Value{value}
	return nil
}

func preserve(c *change, _ none) error {
	c.PreserveUnknownFields = new(true)
	return nil
}

func embedResource(c *change, _ none) error {
	c.EmbeddedResource = true
	return nil
}

func listType(c *change, typ string) error {
	if err := need(c, "+listType", "arrays", array(c)); err != nil {
		return err
	}
	if typ != "map" && typ != "set" && typ != "atomic" {
		return inArgument("", "+listType is map, set or atomic, not %q", typ)
	}
	c.ListType = typ
	return nil
}

func listMapKey(c *change, key string) error {
	if err := need(c, "+listMapKey", "arrays", array(c)); err != nil {
		return err
	}
	if c.ListType != "map" {
		return errors.New("+listMapKey needs +listType=map beside it")
	}
	if !slices.Contains(c.ListMapKeys, key) {
		c.ListMapKeys = append(c.ListMapKeys, key)
	}
	return nil
}

func atomicity(c *change, name, typ string) error {
	if typ != "granular" && typ != "atomic" {
		return inArgument("", "%s is granular or atomic, not %q", name, typ)
	}
	c.MapType = typ
	return nil
}

// notEmpty demands what a required field must hold for Go's zero value not to count as one.
func notEmpty(c *change, _ none) error {
	one := new(int64(1))
	switch c.Type {
	case "string":
		keepPointer(&c.MinLength, one)
	case "array":
		keepPointer(&c.MinItems, one)
	case "object", "":
		if c.AdditionalProperties != nil || c.ref != nil {
			c.notEmpty = c.MinProperties == nil
			keepPointer(&c.MinProperties, one)
		}
	}
	return nil
}
