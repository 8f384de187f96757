package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/conversion/queryparams"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client/apiutil"
)

// wire is the way to the API server: it finds out, once for each kind and form, where objects live and how they travel.
type wire struct {
	config *rest.Config
	http   *http.Client
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
	mapper meta.RESTMapper

	resources sync.Map // of resourceKey to *resource
}

type resourceKey struct {
	gvk      schema.GroupVersionKind
	form     form
	protobuf bool
}

// resource is where objects of a kind live, and how they travel in one form.
type resource struct {
	codec
	name       string
	namespaced bool
	api        rest.Interface
}

// kindOf returns the kind of obj.
func (w *wire) kindOf(obj runtime.Object) (schema.GroupVersionKind, error) {
	if v := reflect.ValueOf(obj); v.Kind() == reflect.Pointer && v.IsNil() {
		return schema.GroupVersionKind{}, fmt.Errorf("%T is nil", obj)
	}
	return apiutil.GVKForObject(obj, w.scheme)
}

// itemKindOf returns the kind of the items of list.
func (w *wire) itemKindOf(list runtime.Object) (schema.GroupVersionKind, error) {
	gvk, err := w.kindOf(list)
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	return gvk, err
}

// resourceOf returns the resource that obj is of.
func (w *wire) resourceOf(ctx context.Context, obj runtime.Object) (*resource, error) {
	gvk, err := w.kindOf(obj)
	if err != nil {
		return nil, err
	}
	return w.resolve(ctx, w.codecFor(gvk, obj))
}

// resourceOfItems returns the resource that the items of list are of.
func (w *wire) resourceOfItems(ctx context.Context, list runtime.Object) (*resource, error) {
	gvk, err := w.itemKindOf(list)
	if err != nil {
		return nil, err
	}
	return w.resolve(ctx, w.codecFor(gvk, list))
}

func (w *wire) resolve(ctx context.Context, c codec) (*resource, error) {
	key := resourceKey{gvk: c.gvk, form: c.form, protobuf: c.protobuf}
	if r, ok := w.resources.Load(key); ok {
		return r.(*resource), nil
	}
	mapping, err := meta.ToRESTMapperWithContext(w.mapper).RESTMappingWithContext(ctx, c.gvk.GroupKind(), c.gvk.Version)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(w.config)
	config.NegotiatedSerializer = negotiated{NegotiatedSerializer: c.codecs.WithoutConversion(), codec: c}
	api, err := apiutil.RESTClientForGVK(c.gvk, true, c.form == unstructuredForm, config, c.codecs, w.http)
	if err != nil {
		return nil, err
	}
	r, _ := w.resources.LoadOrStore(key, &resource{
		codec:      c,
		name:       mapping.Resource.Resource,
		namespaced: mapping.Scope.Name() != meta.RESTScopeNameRoot,
		api:        api,
	})
	return r.(*resource), nil
}

// place is what a request is about: the objects in a namespace, one of them, or a subresource of one.
type place struct {
	namespace   string
	name        string
	subresource string
}

func placeOf(obj Object) place { return place{namespace: obj.GetNamespace(), name: obj.GetName()} }

func (p place) key() ObjectKey { return ObjectKey{Namespace: p.namespace, Name: p.name} }

func (p place) sub(resource string) place {
	p.subresource = resource
	return p
}

// request starts a request about one object, with options as they are sent.
func (r *resource) request(verb string, at place, options any) (*rest.Request, error) {
	req, err := r.collectionRequest(verb, at.namespace, options)
	if err != nil {
		return nil, err
	}
	req.Name(at.name)
	if at.subresource != "" {
		req.SubResource(strings.Split(at.subresource, "/")...)
	}
	return req, nil
}

// collectionRequest starts a request about the objects in a namespace, with options as they are sent.
func (r *resource) collectionRequest(verb, namespace string, options any) (*rest.Request, error) {
	req := r.api.Verb(verb).NamespaceIfScoped(namespace, r.namespaced).Resource(r.name)
	values, err := queryparams.Convert(options)
	if err != nil {
		return nil, err
	}
	for name, all := range values {
		for _, value := range all {
			req.Param(name, value)
		}
	}
	return req, nil
}

// about says which object an error is about. What the server says, and that it has no such kind, names it already.
func about(gvk schema.GroupVersionKind, key ObjectKey, err error) error {
	var status apierrors.APIStatus
	switch {
	case err == nil, meta.IsNoMatchError(err), errors.As(err, &status):
		return err
	case key.Name == "":
		return fmt.Errorf("%s: %w", gvk.Kind, err)
	case key.Namespace == "":
		return fmt.Errorf("%s %s: %w", gvk.Kind, key.Name, err)
	default:
		return fmt.Errorf("%s %s: %w", gvk.Kind, key, err)
	}
}
