package applyconfiguration

import (
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
)

// field is a field of a struct that JSON knows.
type field struct {
	name     string
	embedded bool
	pos      token.Pos
	pkg      string // the package that declares it
	shape    *shape
	tag      jsonTag
}

// jsonTag is what the json tag of a field says.
type jsonTag struct {
	name      string
	inline    bool
	omitEmpty bool
}

// String is the tag's text in a configuration, where everything but what is inline may be absent.
func (t jsonTag) String() string {
	switch {
	case !t.inline:
		return t.name + ",omitempty"
	case t.omitEmpty:
		return ",omitempty"
	default:
		return ""
	}
}

// readTag reads the json tag of a field. Without one, or with "-", the field does not count.
func readTag(name string, embedded bool, tags string) (jsonTag, bool) {
	text, ok := reflect.StructTag(tags).Lookup("json")
	if !ok || text == "-" {
		return jsonTag{}, false
	}
	options := strings.Split(text, ",")
	t := jsonTag{name: options[0], inline: embedded && options[0] == "", omitEmpty: slices.Contains(options[1:], "omitempty")}
	if t.name == "" {
		t.name = name
	}
	return t, true
}

const (
	metaPackage    = "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimePackage = "k8s.io/apimachinery/pkg/runtime"
)

var (
	typeMeta   = typeName{metaPackage, "TypeMeta"}
	objectMeta = typeName{metaPackage, "ObjectMeta"}
)

// fieldsOf lists the fields of a struct that a configuration has too; none for other types.
func fieldsOf(s *shape) []field {
	if s.form != structure {
		return nil
	}
	st := s.typ.Underlying().(*types.Struct)
	var out []field
	for i := range st.NumFields() {
		f := st.Field(i)
		tag, ok := readTag(f.Name(), f.Anonymous(), st.Tag(i))
		if !ok || hidden(s.name, f.Name()) {
			continue
		}
		out = append(out, field{name: f.Name(), embedded: f.Anonymous(), pos: f.Pos(), pkg: f.Pkg().Path(), shape: shapeOf(f.Type()), tag: tag})
	}
	return out
}

// hidden tells the fields that nobody applies: what the server keeps in ObjectMeta, and what is on its way out.
func hidden(in typeName, name string) bool {
	return in == objectMeta && (name == "ManagedFields" || name == "SelfLink") || strings.HasPrefix(name, "ZZZ_")
}

// embeds reports whether a struct embeds a type, whatever its json tag.
func embeds(s *shape, name typeName) bool {
	if s.form != structure {
		return false
	}
	for f := range s.typ.Underlying().(*types.Struct).Fields() {
		if f.Anonymous() && shapeOf(f.Type()).name == name {
			return true
		}
	}
	return false
}

// needsGetter tells the fields that a client reads from a configuration when it applies it.
func needsGetter(in typeName, name string) bool {
	switch in {
	case objectMeta:
		return name == "Name" || name == "Namespace"
	case typeMeta:
		return name == "Kind" || name == "APIVersion"
	}
	return false
}

// hasField reports whether a struct declares a field of the name.
func hasField(s *shape, name string) bool {
	if s.form != structure {
		return false
	}
	for f := range s.typ.Underlying().(*types.Struct).Fields() {
		if f.Name() == name {
			return true
		}
	}
	return false
}
