package client

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Reader reads objects, from the API server or from a cache.
type Reader interface {
	// Get reads the object at key into obj, which must be a pointer to a struct. The error for an object that is not there
	// satisfies apierrors.IsNotFound.
	Get(ctx context.Context, key ObjectKey, obj Object, opts ...GetOption) error

	// List reads the objects that match the options into the Items of list, replacing what was there.
	List(ctx context.Context, list ObjectList, opts ...ListOption) error
}

// Writer changes objects on the API server.
type Writer interface {
	// Apply sends an apply configuration: the fields that the field owner wants to have, as server-side apply understands
	// them. A field owner is required, from the options or from the client. On success obj holds the server's answer.
	Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...ApplyOption) error

	// Create makes a new object, which then holds the server's answer. The error for a name that is taken satisfies
	// apierrors.IsAlreadyExists.
	Create(ctx context.Context, obj Object, opts ...CreateOption) error

	// Delete asks for the deletion of the object that obj names. obj itself is not changed. A deletion that finalizers or a
	// grace period hold up has succeeded when it is asked for.
	Delete(ctx context.Context, obj Object, opts ...DeleteOption) error

	// Update replaces the object with obj, which then holds the server's answer. When obj carries a resourceVersion that is
	// not the current one, the error satisfies apierrors.IsConflict.
	Update(ctx context.Context, obj Object, opts ...UpdateOption) error

	// Patch changes the object that obj names as patch says; obj then holds the server's answer.
	Patch(ctx context.Context, obj Object, patch Patch, opts ...PatchOption) error

	// DeleteAllOf deletes the objects of obj's kind that match the options. Of obj, nothing but the kind is used. For a
	// namespaced kind a namespace has to be given, with InNamespace: servers do not delete across namespaces.
	DeleteAllOf(ctx context.Context, obj Object, opts ...DeleteAllOfOption) error
}

// StatusClient gives access to the status subresource.
type StatusClient interface {
	// Status returns a writer of the status subresource.
	Status() SubResourceWriter
}

// SubResourceClientConstructor gives access to any subresource by its name.
type SubResourceClientConstructor interface {
	// SubResource returns a client for the subresource of that name, such as "status", "scale", "eviction", "binding",
	// "token", "approval" or "resize". Whether a kind has it, the server says when it is used. For instance:
	//
	//	scale := &autoscalingv1.Scale{}
	//	err := c.SubResource("scale").Get(ctx, deployment, scale)
	//	scale.Spec.Replicas = 5
	//	err = c.SubResource("scale").Update(ctx, deployment, client.WithSubResourceBody(scale))
	//
	//	err = c.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{})
	SubResource(subResource string) SubResourceClient
}

// SubResourceReader reads a subresource.
type SubResourceReader interface {
	// Get reads the subresource of obj into subResource.
	Get(ctx context.Context, obj Object, subResource Object, opts ...SubResourceGetOption) error
}

// SubResourceWriter changes a subresource.
type SubResourceWriter interface {
	// Create posts subResource to the subresource of obj. subResource then holds the server's answer, if the server answers
	// with an object of that kind; obj is not changed.
	Create(ctx context.Context, obj Object, subResource Object, opts ...SubResourceCreateOption) error

	// Update replaces the subresource of obj. What is sent, and then holds the server's answer, is obj, or the body given
	// by WithSubResourceBody.
	Update(ctx context.Context, obj Object, opts ...SubResourceUpdateOption) error

	// Patch changes the subresource of obj as patch says. The patch is made from, and the server's answer goes to, obj, or
	// the body given by WithSubResourceBody.
	Patch(ctx context.Context, obj Object, patch Patch, opts ...SubResourcePatchOption) error

	// Apply sends an apply configuration for the subresource of the object that obj names: obj itself, or the
	// SubResourceBody of the options, which then holds the server's answer.
	Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...SubResourceApplyOption) error
}

// SubResourceClient reads and changes a subresource.
type SubResourceClient interface {
	SubResourceReader
	SubResourceWriter
}

// StatusWriter is the former name of SubResourceWriter.
type StatusWriter = SubResourceWriter

// Client reads and writes objects and their subresources.
type Client interface {
	Reader
	Writer
	StatusClient
	SubResourceClientConstructor

	// Scheme returns the scheme that tells the client the kinds of Go types.
	Scheme() *runtime.Scheme
	// RESTMapper returns the mapper that tells the client the resources of kinds.
	RESTMapper() meta.RESTMapper
	// GroupVersionKindFor returns the kind of obj: by the scheme, or what obj itself says if it is unstructured or metadata.
	GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error)
	// IsObjectNamespaced tells whether objects of obj's kind live in namespaces.
	IsObjectNamespaced(obj runtime.Object) (bool, error)
}

// WithWatch is a Client that can also watch. It is meant for programs that wait for something to happen; a controller
// is better served by a cache.
type WithWatch interface {
	Client
	// Watch opens a watch of the objects that match the options; obj is a list of their kind. The events carry objects of
	// the form that the list holds. The caller stops the watch, or ends ctx.
	Watch(ctx context.Context, obj ObjectList, opts ...ListOption) (watch.Interface, error)
}

// IndexerFunc returns the values under which an index finds obj: none, one or several. It must not change obj, and has no
// need to care for namespaces: an index can be asked within one namespace and across all.
type IndexerFunc func(obj Object) []string

// FieldIndexer adds indexes to a cache.
type FieldIndexer interface {
	// IndexField adds an index to the objects of obj's kind. A List that selects by the field named field then answers from
	// it. The field is a name that the caller chooses; the API server does not know it.
	IndexField(ctx context.Context, obj Object, field string, extractValue IndexerFunc) error
}
