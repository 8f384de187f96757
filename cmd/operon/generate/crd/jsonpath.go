package crd

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// astray is why nothing can be where a path leads, and what would be right. Its zero value says nothing.
type astray struct{ what, fix string }

// walk follows a path through schemas, by the rules of the JSONPath of kubectl and of the API server's columns. It tells only what is certain: where
// a schema leaves open what is there, the walk ends.
type walk struct {
	// at is the schema where it is, nil where that is open; path is how it got there.
	at   *Schema
	path string
	// wrong is why it got nowhere.
	wrong astray
}

// follow walks the path from the schema of a kind.
func (v *Version) follow(path string) walk {
	w := walk{at: v.whole()}
	w.steps(path)
	return w
}

// whole is the version's schema with what the API server knows of metadata.
func (v *Version) whole() *Schema {
	root := v.Schema.clone()
	if root.Properties["metadata"] != nil {
		root.Properties["metadata"] = objectMetadata
	}
	return root
}

// objectMetadata are the fields that every object has.
var objectMetadata = func() *Schema {
	object := func(lists map[string]*Schema, texts ...string) *Schema {
		s := &Schema{Type: "object", Properties: lists}
		for _, name := range texts {
			s.Properties[name] = &Schema{Type: "string"}
		}
		return s
	}
	texts := &Schema{Type: "object", AdditionalProperties: &Schema{Type: "string"}}
	flag, number := &Schema{Type: "boolean"}, &Schema{Type: "integer"}
	return object(map[string]*Schema{
		"labels": texts, "annotations": texts, "generation": number, "deletionGracePeriodSeconds": number,
		"finalizers": {Type: "array", Items: &Schema{Type: "string"}},
		"ownerReferences": {Type: "array", Items: object(map[string]*Schema{
			"controller": flag, "blockOwnerDeletion": flag,
		}, "apiVersion", "kind", "name", "uid")},
		"managedFields": {Type: "array", Items: object(map[string]*Schema{"fieldsV1": {}},
			"manager", "operation", "apiVersion", "time", "fieldsType", "subresource")},
	}, "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp")
}()

func (w *walk) lost(fix, format string, args ...any) {
	w.at, w.wrong = nil, astray{fmt.Sprintf(format, args...), fix}
}

// unreadable is for a path that does not parse. The API server passes over all columns of a version then.
func (w *walk) unreadable(format string, args ...any) {
	w.lost("", "the path does not parse, and the API server shows none of the columns: "+format, args...)
}

var (
	quotedKey = regexp.MustCompile(`^'([^']*)'$`)
	subscript = regexp.MustCompile(`^(\*|-?\d*(:-?\d*)?(:-?\d*)?)$`)
	compare   = regexp.MustCompile(`^([^!<>=]+)([!<>=]+)(.+?)$`)
	operators = []string{"==", "!=", "<", ">", "<=", ">="}
	bareWord  = regexp.MustCompile(`^[\pL_][\pL\d_-]*$`)
)

func (w *walk) steps(path string) {
	for rest := path; rest != "" && w.at != nil; {
		switch {
		case strings.ContainsRune(" @$", rune(rest[0])):
			rest = rest[1:]
		case strings.HasPrefix(rest, ".."):
			w.at = nil
		case strings.HasPrefix(rest, "[?("):
			end := endOfFilter(rest)
			if end < 0 {
				w.unreadable("%s is not closed with )]", rest)
				return
			}
			w.filter(rest[len("[?(") : end-len(")]")])
			rest = rest[end:]
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				w.unreadable("%s is not closed with ]", rest)
				return
			}
			w.brackets(rest[1:end])
			rest = rest[end+1:]
		case rest[0] == '.':
			end := 1
			for end < len(rest) && !strings.ContainsRune(" \t.,[]$@{}", rune(rest[end])) {
				if rest[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(rest))
			w.field(strings.ReplaceAll(rest[1:end], `\`, ""), rest[:end])
			rest = rest[end:]
		default:
			w.at = nil
		}
	}
}

// endOfFilter is the offset behind the filter that a path begins with, -1 where it has no end.
func endOfFilter(path string) int {
	var quote byte
	closed := false
	for i := len("[?("); i < len(path); i++ {
		switch c := path[i]; {
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote && quote != 0 && path[i-1] != '\\':
			closed = true
		case c == ')' && closed == (quote != 0):
			if strings.HasPrefix(path[i:], ")]") {
				return i + len(")]")
			}
			return -1
		}
	}
	return -1
}

// field goes to a field of an object or a value of a map, which is written as step.
func (w *walk) field(name, step string) {
	from := w.path
	w.path += step
	switch s := w.at; {
	case s.open() || name == "":
		w.at = nil
	case s.Type == "array":
		example := step
		if step == "." {
			example = ""
		}
		w.lost(fmt.Sprintf("pick an item, as in %s[0]%s", from, example), "%s is a list, and has no field %q", from, name)
	case s.Type != "object":
		fix := ""
		if strings.Contains(from, ".labels") || strings.Contains(from, ".annotations") {
			fix = `write \. for a dot within a key`
		}
		w.lost(fix, "%s is %s, and has no field %q", from, article(s.Type), name)
	case name == "*":
		w.at = s.AdditionalProperties
	case s.Properties[name] != nil:
		w.at = s.Properties[name]
	case s.AdditionalProperties != nil:
		w.at = s.AdditionalProperties
	case s.EmbeddedResource || s.PreserveUnknownFields != nil || len(s.Properties) == 0:
		w.at = nil
	default:
		where, fix := from, ""
		if where == "" {
			where = "the object"
		}
		if near := marker.Nearest(name, slices.Sorted(maps.Keys(s.Properties))); near != "" {
			fix = fmt.Sprintf("did you mean %q?", near)
		}
		w.lost(fix, "%s has no field %q", where, name)
	}
}

// open tells that the schema leaves open what is there.
func (s *Schema) open() bool {
	return s.Type == "" || s.IntOrString || s.Type == "object" && len(s.Properties) == 0 && s.AdditionalProperties == nil
}

// brackets goes to items of a list, or to a field in quotes.
func (w *walk) brackets(inner string) {
	switch m := quotedKey.FindStringSubmatch(inner); {
	case strings.Contains(inner, ","):
		w.at = nil
	case m != nil:
		// A dot within the quotes separates fields too.
		w.steps("." + m[1])
	case subscript.MatchString(inner):
		w.items("[" + inner + "]")
	default:
		w.unreadable("[%s] is neither an index nor a key in single quotes", inner)
	}
}

// items goes to the items of a list.
func (w *walk) items(step string) {
	from := w.path
	w.path += step
	switch s := w.at; {
	case s.open():
		w.at = nil
	case s.Type == "array":
		w.at = s.Items
	default:
		w.lost("", "%s is %s, and no list to pick from", from, article(s.Type))
	}
}

// filter goes to the items of a list for which a condition holds.
func (w *walk) filter(condition string) {
	w.items("[?(" + condition + ")]")
	if w.at == nil {
		return
	}
	left := condition
	if m := compare.FindStringSubmatch(condition); m != nil {
		left = m[1]
		right := strings.TrimSpace(m[3])
		switch {
		case !slices.Contains(operators, m[2]):
			w.lost("compare with ==", "the filter has the operator %s, which there is not", m[2])
			return
		case bareWord.MatchString(right) && right != "true" && right != "false":
			w.lost(fmt.Sprintf(`write "%s"`, right), "%s stands without quotes, and is no text", right)
			return
		}
	}
	if path, ok := strings.CutPrefix(strings.TrimSpace(left), "@"); ok {
		item := walk{at: w.at, path: "@"}
		if item.steps(path); item.wrong.what != "" {
			w.lost(item.wrong.fix, "%s", strings.ReplaceAll(item.wrong.what, "@ ", "the item "))
		}
	}
}
