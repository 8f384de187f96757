package admission

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Decoder decodes the objects of requests.
type Decoder interface {
	// Decode decodes the object of a request. It fails if there is none, as in
	// a deletion, or one of another kind than into's; the old object is for DecodeRaw.
	Decode(req Request, into runtime.Object) error

	// DecodeRaw decodes an object. It fails if there is none, or one of another kind than into's.
	DecodeRaw(rawObj runtime.RawExtension, into runtime.Object) error
}

// NewDecoder returns a decoder that knows the types of a scheme, and any kind
// where it decodes into an unstructured object. Fields that a type does not know are passed over.
func NewDecoder(scheme *runtime.Scheme) Decoder {
	return decoder{scheme: scheme, codecs: serializer.NewCodecFactory(scheme)}
}

type decoder struct {
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
}

var errNoContent = errors.New("no object to decode: a creation has no old one, a deletion no new one")

// Decode implements Decoder.
func (d decoder) Decode(req Request, into runtime.Object) error {
	return d.DecodeRaw(req.Object, into)
}

// DecodeRaw implements Decoder.
func (d decoder) DecodeRaw(raw runtime.RawExtension, into runtime.Object) error {
	if len(raw.Raw) == 0 {
		return errNoContent
	}
	if u, ok := into.(runtime.Unstructured); ok {
		// The codecs insist on a kind here, which an object inside a request need not repeat.
		var content map[string]any
		if err := utiljson.Unmarshal(raw.Raw, &content); err != nil {
			return err
		}
		u.SetUnstructuredContent(content)
		return nil
	}
	if kind, ok := kindAhead(raw.Raw); ok && d.isOf(into, kind) {
		// What the codecs would do besides is to look for the kind, which takes a pass over the whole object.
		return utiljson.Unmarshal(raw.Raw, into)
	}
	decoded, kind, err := d.codecs.UniversalDeserializer().Decode(raw.Raw, defaultKind(into), into)
	if err != nil {
		return err
	}
	if decoded != into {
		// The codecs have made an object of the kind that was sent.
		return fmt.Errorf("cannot decode %s into %T", kind, into)
	}
	return nil
}

// isOf reports whether the type of an object is that of a kind, or one of its kinds.
func (d decoder) isOf(obj runtime.Object, kind schema.GroupVersionKind) bool {
	kinds, _, err := d.scheme.ObjectKinds(obj)
	return err == nil && slices.Contains(kinds, kind)
}

// kindAhead returns the kind of a JSON object that begins with it, as what an API server sends does: its first two fields, in
// either order, are kind and apiVersion.
func kindAhead(object []byte) (schema.GroupVersionKind, bool) {
	var kind, apiVersion string
	rest := bytes.TrimLeft(object, " \t\r\n")
	if len(rest) == 0 || rest[0] != '{' {
		return schema.GroupVersionKind{}, false
	}
	rest = rest[1:]
	for range 2 {
		var key, value string
		var ok bool
		if key, rest, ok = plainString(rest, ':'); !ok {
			return schema.GroupVersionKind{}, false
		}
		if value, rest, ok = plainString(rest, ','); !ok {
			return schema.GroupVersionKind{}, false
		}
		switch key {
		case "kind":
			kind = value
		case "apiVersion":
			apiVersion = value
		}
	}
	version, err := schema.ParseGroupVersion(apiVersion)
	return version.WithKind(kind), err == nil && kind != "" && apiVersion != ""
}

// plainString reads a JSON string without escapes and the mark behind it, both with no space before them.
func plainString(from []byte, mark byte) (s string, rest []byte, ok bool) {
	if len(from) == 0 || from[0] != '"' {
		return "", nil, false
	}
	end := bytes.IndexAny(from[1:], "\"\\")
	if end < 0 || from[1+end] != '"' {
		return "", nil, false
	}
	rest = from[1+end+1:]
	if len(rest) == 0 || rest[0] != mark {
		return "", nil, false
	}
	return string(from[1 : 1+end]), rest[1:], true
}

// defaultKind is the kind that an object which tells none is taken for: the one of the object it goes into.
func defaultKind(into runtime.Object) *schema.GroupVersionKind {
	gvk := into.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		return nil
	}
	return &gvk
}

// encode is the JSON of an object as a webhook's patch sees it.
func encode(obj any) ([]byte, error) {
	return json.Marshal(obj)
}
