package conversion

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// Decoder decodes the objects of conversion requests.
type Decoder struct {
	codecs serializer.CodecFactory
}

// NewDecoder returns a decoder that knows the types of a scheme.
func NewDecoder(scheme *runtime.Scheme) *Decoder {
	return &Decoder{codecs: serializer.NewCodecFactory(scheme)}
}

// Decode decodes an object into the type that the scheme has for its kind, and returns that kind.
func (d *Decoder) Decode(content []byte) (runtime.Object, *schema.GroupVersionKind, error) {
	return d.codecs.UniversalDeserializer().Decode(content, nil, nil)
}

// DecodeInto decodes an object into another one.
func (d *Decoder) DecodeInto(content []byte, into runtime.Object) error {
	return runtime.DecodeInto(d.codecs.UniversalDecoder(), content, into)
}
