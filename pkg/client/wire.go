package client

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
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

// resolve returns the resource of a kind in a form, which it finds out the first time.
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
