package admission

import (
	"encoding/json"
	"errors"
	"fmt"

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
	return decoder{codecs: serializer.NewCodecFactory(scheme)}
}

type decoder struct {
	codecs serializer.CodecFactory
}

var errNoContent = errors.New("there is no content to decode")

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
	decoded, kind, err := d.codecs.UniversalDeserializer().Decode(raw.Raw, defaultKind(into), into)
	if err != nil {
		return err
	}
	if decoded != into {
		// The codecs have made an object of the kind that was sent.
		return fmt.Errorf("unable to decode %s into %T", kind, into)
	}
	return nil
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
