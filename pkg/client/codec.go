package client

import (
	"encoding/json"
	"fmt"
	"mime"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client/apiutil"
)

// form is how a Go object holds an API object.
type form int

const (
	typedForm form = iota
	unstructuredForm
	metadataForm
)

func formOf(obj any) form {
	switch obj.(type) {
	case runtime.Unstructured:
		return unstructuredForm
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return metadataForm
	default:
		return typedForm
	}
}

// protobufMessage is what a Go type must implement to travel as protobuf.
type protobufMessage interface {
	Reset()
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// codec encodes objects of one kind in one form for the server, and decodes its answers.
type codec struct {
	gvk      schema.GroupVersionKind
	form     form
	protobuf bool // what is sent is protobuf, and the answer may be
	scheme   *runtime.Scheme
	codecs   serializer.CodecFactory
	// accepts is what the rest.Config says about answers; it is used for what is sent as protobuf.
	accepts string
}

// metadataCodecs decode what every API server says whatever it serves: metadata envelopes and statuses.
var metadataCodecs = func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		panic(err) // the types are compiled in: it cannot happen
	}
	return serializer.NewCodecFactory(scheme)
}()

func (w *wire) codecFor(gvk schema.GroupVersionKind, obj runtime.Object) codec {
	c := codec{gvk: gvk, form: formOf(obj), scheme: w.scheme, codecs: w.codecs}
	mayProtobuf := w.config.ContentType == "" || w.config.ContentType == runtime.ContentTypeProtobuf
	switch c.form {
	case typedForm:
		// A program may have Go types of its own for kinds that client-go has too.
		_, isMessage := obj.(protobufMessage)
		c.protobuf = isMessage && mayProtobuf && (w.config.ContentType != "" || apiutil.HasProtobuf(gvk))
		c.accepts = w.config.AcceptContentTypes
	case metadataForm:
		c.protobuf = mayProtobuf
		c.codecs = metadataCodecs
	}
	return c
}

const (
	acceptJSON = runtime.ContentTypeJSON
	acceptAny  = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	asMetadata = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	asList     = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// accept returns the Accept header of a request whose answer is one object, or a list.
func (c codec) accept(list bool) string {
	if c.form == metadataForm {
		// A server that cannot cut an object down to its metadata sends the whole.
		as := asMetadata
		if list {
			as = asList
		}
		accept := runtime.ContentTypeJSON + as + "," + runtime.ContentTypeJSON
		if c.protobuf {
			accept = runtime.ContentTypeProtobuf + as + "," + accept
		}
		return accept
	}
	switch {
	case !c.protobuf:
		return acceptJSON
	case c.accepts != "":
		return c.accepts
	default:
		return acceptAny
	}
}

// encode returns obj as it is sent, and its content type.
func (c codec) encode(obj runtime.Object) ([]byte, string, error) {
	switch c.form {
	case unstructuredForm:
		if u, ok := obj.(*unstructured.Unstructured); ok {
			body, err := u.MarshalJSON()
			return body, runtime.ContentTypeJSON, err
		}
		body, err := json.Marshal(obj.(runtime.Unstructured).UnstructuredContent())
		return body, runtime.ContentTypeJSON, err
	case metadataForm:
		return nil, "", fmt.Errorf("metadata is not the whole object, and only whole objects can be created and updated: patch it instead")
	}
	mediaType := runtime.ContentTypeJSON
	if c.protobuf {
		mediaType = runtime.ContentTypeProtobuf
	}
	info, _ := runtime.SerializerInfoForMediaType(c.codecs.SupportedMediaTypes(), mediaType)
	body, err := runtime.Encode(runtime.WithVersionEncoder{
		Version:     c.gvk.GroupVersion(),
		Encoder:     info.Serializer,
		ObjectTyper: c.scheme,
	}, obj)
	return body, mediaType, err
}

// answer is what the server said to a request that succeeded.
type answer struct {
	body      []byte
	mediaType string
}

func answerOf(result rest.Result) (answer, error) {
	if err := result.Error(); err != nil {
		return answer{}, err
	}
	var a answer
	var contentType string
	result.ContentType(&contentType)
	if contentType == "" {
		contentType = runtime.ContentTypeJSON
	}
	var err error
	if a.mediaType, _, err = mime.ParseMediaType(contentType); err != nil {
		return answer{}, err
	}
	a.body, err = result.Raw()
	return a, err
}

// json returns the answer if it is JSON.
func (a answer) json() []byte {
	if a.mediaType == runtime.ContentTypeJSON {
		return a.body
	}
	return nil
}

// decode puts the answer into obj, and nothing of what obj was before remains. It reports false, and leaves obj as it is,
// if the server said yes without sending an object.
func (c codec) decode(a answer, obj runtime.Object) (bool, error) {
	if len(a.body) == 0 {
		return false, nil
	}
	info, ok := runtime.SerializerInfoForMediaType(c.codecs.SupportedMediaTypes(), a.mediaType)
	if !ok {
		return false, fmt.Errorf("the server answered in %s, which is not understood", a.mediaType)
	}
	fresh, err := newLike(obj)
	if err != nil {
		return false, err
	}
	out, _, err := c.decoder(info.Serializer).Decode(a.body, nil, fresh)
	if err != nil {
		return false, err
	}
	if status, ok := out.(*metav1.Status); ok && out != fresh {
		if status.Status != metav1.StatusSuccess {
			return false, apierrors.FromObject(status)
		}
		return false, nil
	}
	if out != fresh {
		return false, &otherTypeError{got: out, want: obj}
	}
	c.keepKind(obj, fresh)
	return true, assign(obj, fresh)
}

// otherTypeError says that an answer is of another Go type than the object that it was to go into.
type otherTypeError struct{ got, want runtime.Object }

func (e *otherTypeError) Error() string {
	return fmt.Sprintf("the server answered with a %T where a %T was expected", e.got, e.want)
}

// keepKind makes fresh say that it is the kind that obj says it is, where the answer's is that of an envelope.
func (c codec) keepKind(obj, fresh runtime.Object) {
	if c.form != metadataForm {
		return
	}
	fresh.GetObjectKind().SetGroupVersionKind(obj.GetObjectKind().GroupVersionKind())
	if list, ok := fresh.(*metav1.PartialObjectMetadataList); ok {
		for i := range list.Items {
			list.Items[i].SetGroupVersionKind(c.gvk)
		}
	}
}

// newLike returns an empty object of obj's type.
func newLike(obj runtime.Object) (runtime.Object, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		if u, ok := u.NewEmptyInstance().(runtime.Object); ok {
			return u, nil
		}
	}
	t := reflect.TypeOf(obj)
	if t.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("%T cannot receive an answer: it is not a pointer", obj)
	}
	return reflect.New(t.Elem()).Interface().(runtime.Object), nil
}

// assign makes dst what src is. Both are of the same type.
func assign(dst, src runtime.Object) error {
	to, from := reflect.ValueOf(dst), reflect.ValueOf(src)
	if to.Type() != from.Type() || to.Kind() != reflect.Pointer {
		u, ok := dst.(runtime.Unstructured)
		if !ok {
			return fmt.Errorf("%T cannot receive a %T", dst, src)
		}
		u.SetUnstructuredContent(src.(runtime.Unstructured).UnstructuredContent())
		return nil
	}
	if to.IsNil() {
		return fmt.Errorf("%T cannot receive an answer: it is nil", dst)
	}
	to.Elem().Set(from.Elem())
	return nil
}

// decoder returns a decoder of answers and watched objects, over the serializer of their media type.
func (c codec) decoder(d runtime.Decoder) runtime.Decoder {
	switch c.form {
	case unstructuredForm:
		return unstructuredDecoder{}
	case metadataForm:
		return metadataDecoder{Decoder: d, gvk: c.gvk}
	default:
		return typedDecoder{d}
	}
}

// negotiated makes a rest client decode watched objects and statuses with the codec.
type negotiated struct {
	runtime.NegotiatedSerializer
	codec codec
}

func (n negotiated) DecoderToVersion(d runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return n.codec.decoder(d)
}

// typedDecoder decodes to objects that do not say which kind they are: their Go type does. It also decodes statuses that
// the scheme does not know.
type typedDecoder struct{ runtime.Decoder }

func (d typedDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	out, gvk, err := d.Decoder.Decode(data, defaults, into)
	if runtime.IsNotRegisteredError(err) && isStatus(gvk) {
		return metadataCodecs.UniversalDeserializer().Decode(data, defaults, nil)
	}
	if err == nil {
		out.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return out, gvk, err
}

func isStatus(gvk *schema.GroupVersionKind) bool {
	return gvk != nil && *gvk == schema.GroupVersionKind{Version: "v1", Kind: "Status"}
}

type unstructuredDecoder struct{}

func (unstructuredDecoder) Decode(data []byte, _ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	target := into
	switch into.(type) {
	case nil, *unstructured.Unstructured, *unstructured.UnstructuredList:
	default:
		target = &unstructured.Unstructured{}
	}
	out, gvk, err := unstructured.UnstructuredJSONScheme.Decode(data, nil, target)
	if err != nil {
		return nil, gvk, err
	}
	if isStatus(gvk) {
		status := &metav1.Status{}
		err := utiljson.Unmarshal(data, status)
		return status, gvk, err
	}
	if target != into {
		into.(runtime.Unstructured).SetUnstructuredContent(out.(runtime.Unstructured).UnstructuredContent())
		return into, gvk, nil
	}
	return out, gvk, nil
}

// metadataDecoder decodes envelopes, and whole objects as far as their metadata goes.
type metadataDecoder struct {
	runtime.Decoder
	gvk schema.GroupVersionKind
}

func (d metadataDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if len(data) == 0 || data[0] != '{' {
		out, gvk, err := d.Decoder.Decode(data, defaults, into)
		if m, ok := out.(*metav1.PartialObjectMetadata); ok {
			m.SetGroupVersionKind(d.gvk)
		}
		return out, gvk, err
	}
	if into == nil {
		into = &metav1.PartialObjectMetadata{}
	}
	if err := utiljson.Unmarshal(data, into); err != nil {
		return nil, nil, err
	}
	gvk := into.GetObjectKind().GroupVersionKind()
	if isStatus(&gvk) {
		status := &metav1.Status{}
		err := utiljson.Unmarshal(data, status)
		return status, &gvk, err
	}
	if m, ok := into.(*metav1.PartialObjectMetadata); ok {
		m.SetGroupVersionKind(d.gvk)
	}
	return into, &gvk, nil
}
