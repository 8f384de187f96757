package apiutil

import (
	"net/http"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// RESTClientForGVK returns a client for the API that serves gvk, which makes its requests with httpClient.
//
// Objects are encoded as baseConfig.ContentType says. Where that is empty, kinds that have a protobuf form (those of
// client-go, and those added with AddToProtobufScheme) travel as protobuf unless forceDisableProtoBuf or isUnstructured is set,
// and everything else as JSON. A baseConfig.NegotiatedSerializer is used as it is; without one, objects are decoded with
// codecs, unconverted. Unstructured ones then keep the kind that the server says, and for all others it is emptied: their Go type
// says what they are.
func RESTClientForGVK(
	gvk schema.GroupVersionKind,
	forceDisableProtoBuf bool,
	isUnstructured bool,
	baseConfig *rest.Config,
	codecs serializer.CodecFactory,
	httpClient *http.Client,
) (rest.Interface, error) {
	cfg := rest.CopyConfig(baseConfig)
	gv := gvk.GroupVersion()
	cfg.GroupVersion = &gv
	cfg.APIPath = "/apis"
	if gvk.Group == "" {
		cfg.APIPath = "/api"
	}
	if cfg.UserAgent == "" {
		cfg.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	if cfg.ContentType == "" && !forceDisableProtoBuf && !isUnstructured && HasProtobuf(gvk) {
		cfg.ContentType = runtime.ContentTypeProtobuf
		if cfg.AcceptContentTypes == "" {
			cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
		}
	}
	if cfg.NegotiatedSerializer == nil {
		cfg.NegotiatedSerializer = codecs.WithoutConversion()
		if isUnstructured {
			cfg.NegotiatedSerializer = kindKeepingCodecs{cfg.NegotiatedSerializer}
		}
	}
	return rest.RESTClientForConfigAndClient(cfg, httpClient)
}

// kindKeepingCodecs decodes to what the server sent. The decoder it replaces empties apiVersion and kind, which is all that an
// unstructured object has to say what it is.
type kindKeepingCodecs struct {
	runtime.NegotiatedSerializer
}

func (kindKeepingCodecs) DecoderToVersion(d runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return d
}

// protobufKinds are the kinds added with AddToProtobufScheme.
var protobufKinds = struct {
	sync.RWMutex
	scheme *runtime.Scheme
}{scheme: runtime.NewScheme()}

// AddToProtobufScheme says, for the whole process, that the kinds which addToScheme adds to a scheme have a protobuf form
// that their API server understands. The kinds of client-go need not be added.
func AddToProtobufScheme(addToScheme func(*runtime.Scheme) error) error {
	protobufKinds.Lock()
	defer protobufKinds.Unlock()
	return addToScheme(protobufKinds.scheme)
}

type protobufMessage interface {
	Reset()
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

var protobufType = reflect.TypeFor[protobufMessage]()

// HasProtobuf tells whether gvk travels as protobuf by default: whether it is a kind of client-go, or one that has been
// added with AddToProtobufScheme, and its Go type has a protobuf form.
func HasProtobuf(gvk schema.GroupVersionKind) bool {
	// Programs add their own kinds to client-go's scheme, so to be in it is not enough.
	if t, ok := clientgoscheme.Scheme.AllKnownTypes()[gvk]; ok && reflect.PointerTo(t).Implements(protobufType) {
		return true
	}
	protobufKinds.RLock()
	defer protobufKinds.RUnlock()
	t, ok := protobufKinds.scheme.AllKnownTypes()[gvk]
	return ok && reflect.PointerTo(t).Implements(protobufType)
}
