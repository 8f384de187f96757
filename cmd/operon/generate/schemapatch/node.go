package schemapatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value returns the value of a mapping's key, or nil.
func value(node *yaml.Node, key string) *yaml.Node {
	if i := index(node, key); i >= 0 {
		return node.Content[i+1]
	}
	return nil
}

// text returns the text of a mapping's key, or "".
func text(node *yaml.Node, key string) string {
	if v := value(node, key); v != nil {
		return v.Value
	}
	return ""
}

// index returns where a mapping has a key, or -1.
func index(node *yaml.Node, key string) int {
	if node == nil || node.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// set sets the value of a mapping's key. A key that is new is quoted: it comes from JSON, as far as controller-gen is concerned.
func set(node *yaml.Node, key string, v *yaml.Node) {
	if i := index(node, key); i >= 0 {
		node.Content[i+1] = v
		return
	}
	added := scalar("!!str", key)
	added.Style = yaml.DoubleQuotedStyle
	node.Content = append(node.Content, added, v)
}

func remove(node *yaml.Node, key string) {
	if i := index(node, key); i >= 0 {
		node.Content = slices.Delete(node.Content, i, i+2)
	}
}

func scalar(tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

// The orders are those in which the API's Go types declare their fields.
var (
	schemaOrder = []string{
		"description", "type", "format", "title", "default", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
		"maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "multipleOf", "enum", "maxProperties", "minProperties",
		"required", "items", "allOf", "oneOf", "anyOf", "not", "properties", "additionalProperties", "externalDocs", "example", "nullable",
		"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string",
		"x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-validations",
	}
	ruleOrder = []string{"rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"}
	docsOrder = []string{"description", "url"}
)

// schemaNode turns a schema into YAML.
func schemaNode(schema map[string]any) *yaml.Node {
	return ordered(schema, schemaOrder, func(key string, v any) *yaml.Node {
		switch key {
		case "properties":
			return ordered(v.(map[string]any), nil, func(_ string, v any) *yaml.Node { return schemaNode(v.(map[string]any)) })
		case "items", "additionalProperties", "not":
			if inner, ok := v.(map[string]any); ok {
				return schemaNode(inner)
			}
		case "allOf", "anyOf", "oneOf":
			return sequence(v.([]any), func(v any) *yaml.Node { return schemaNode(v.(map[string]any)) })
		case "x-kubernetes-validations":
			return sequence(v.([]any), func(v any) *yaml.Node { return ordered(v.(map[string]any), ruleOrder, plain) })
		case "externalDocs":
			return ordered(v.(map[string]any), docsOrder, plain)
		}
		return plain(key, v)
	})
}

// ordered turns a map into YAML, the keys of the order first and the others sorted behind them.
func ordered(m map[string]any, order []string, node func(key string, v any) *yaml.Node) *yaml.Node {
	position := func(key string) int {
		if i := slices.Index(order, key); i >= 0 {
			return i
		}
		return len(order)
	}
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if d := position(a) - position(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	out := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, key := range keys {
		out.Content = append(out.Content, scalar("!!str", key), node(key, m[key]))
	}
	return out
}

func sequence(list []any, node func(v any) *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, v := range list {
		out.Content = append(out.Content, node(v))
	}
	return out
}

// plain turns any value of JSON's kinds into YAML, maps sorted by key.
func plain(_ string, v any) *yaml.Node {
	switch v := v.(type) {
	case map[string]any:
		return ordered(v, nil, plain)
	case []any:
		return sequence(v, func(v any) *yaml.Node { return plain("", v) })
	case []string:
		out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, s := range v {
			out.Content = append(out.Content, scalar("!!str", s))
		}
		return out
	case string:
		return scalar("!!str", v)
	case bool:
		return scalar("!!bool", fmt.Sprint(v))
	case nil:
		return scalar("!!null", "null")
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(string(v), ".eE") {
			tag = "!!float"
		}
		return scalar(tag, string(v))
	default:
		return plain("", normal(v))
	}
}

// normal brings a value of another Go type to those that JSON decodes to, with numbers as they are written.
func normal(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return string(data)
	}
	return decoded
}
