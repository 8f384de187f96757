package cache

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
)

// source lists and watches one resource in one form.
type source interface {
	list(ctx context.Context, namespace string, opts metav1.ListOptions) (runtime.Object, error)
	watch(ctx context.Context, namespace string, opts metav1.ListOptions) (watch.Interface, error)
}

// opener opens a source.
type opener func(*resource, form) (source, error)

// server opens sources at an API server.
type server struct {
	config *rest.Config
	http   *http.Client
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
	params runtime.ParameterCodec

	keepManaged bool // or else managedFields need not be decoded
}

func newServer(config *rest.Config, http *http.Client, scheme *runtime.Scheme, keepManaged bool) *server {
	return &server{
		config: config, http: withOwnPauses(http), scheme: scheme, keepManaged: keepManaged,
		codecs: serializer.NewCodecFactory(scheme), params: runtime.NewParameterCodec(scheme),
	}
}

func (s *server) open(r *resource, f form) (source, error) {
	switch f {
	case formMetadata:
		c, err := metadata.NewForConfigAndClient(s.config, s.http)
		if err != nil {
			return nil, err
		}
		return metadataSource{c.Resource(r.gvr)}, nil
	case formTyped:
		config := s.config
		if config.NegotiatedSerializer == nil && hasMetadataFirst(r.goType) {
			config = rest.CopyConfig(config)
			config.NegotiatedSerializer = wireCodecs{s.codecs.WithoutConversion(), r, s.keepManaged}
		}
		c, err := apiutil.RESTClientForGVK(r.gvk, false, false, config, s.codecs, s.http)
		if err != nil {
			return nil, err
		}
		return &typedSource{resource: r, server: s, client: c}, nil
	}
	c, err := dynamic.NewForConfigAndClient(s.config, s.http)
	if err != nil {
		return nil, err
	}
	return fullSource{c.Resource(r.gvr)}, nil
}

type metadataSource struct{ client metadata.Getter }

func (s metadataSource) list(ctx context.Context, namespace string, opts metav1.ListOptions) (runtime.Object, error) {
	return s.client.Namespace(namespace).List(ctx, opts)
}

func (s metadataSource) watch(ctx context.Context, namespace string, opts metav1.ListOptions) (watch.Interface, error) {
	return s.client.Namespace(namespace).Watch(ctx, opts)
}

type fullSource struct {
	client dynamic.NamespaceableResourceInterface
}

func (s fullSource) list(ctx context.Context, namespace string, opts metav1.ListOptions) (runtime.Object, error) {
	return s.client.Namespace(namespace).List(ctx, opts)
}

func (s fullSource) watch(ctx context.Context, namespace string, opts metav1.ListOptions) (watch.Interface, error) {
	return s.client.Namespace(namespace).Watch(ctx, opts)
}

type typedSource struct {
	*resource
	server *server
	client rest.Interface
}

func (s *typedSource) list(ctx context.Context, namespace string, opts metav1.ListOptions) (runtime.Object, error) {
	gvk := s.gvk
	gvk.Kind += "List"
	list, err := s.server.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	err = s.client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(s.gvr.Resource).
		VersionedParams(&opts, s.server.params).Do(ctx).Into(list)
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (s *typedSource) watch(ctx context.Context, namespace string, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return s.client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(s.gvr.Resource).
		VersionedParams(&opts, s.server.params).Watch(ctx)
}

// newObject makes an empty object of a resource's Go type.
func newObject(r *resource) client.Object {
	return reflect.New(r.goType.Elem()).Interface().(client.Object)
}

// goTypeOf finds the Go type of a kind; nil when the scheme has none that could be read typed.
func goTypeOf(scheme *runtime.Scheme, r *resource) (reflect.Type, error) {
	if !scheme.Recognizes(r.gvk) {
		return nil, nil
	}
	obj, err := scheme.New(r.gvk)
	if err != nil {
		return nil, err
	}
	switch obj.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		return nil, nil
	}
	if _, ok := obj.(client.Object); !ok {
		return nil, fmt.Errorf("%s: %T has no object metadata", r.gvk, obj)
	}
	return reflect.TypeOf(obj), nil
}
