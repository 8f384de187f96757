package client

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/conversion/queryparams"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// resource is where objects of a kind live, and how they travel in one form.
type resource struct {
	codec
	name       string
	namespaced bool
	api        rest.Interface
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
