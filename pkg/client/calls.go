package client

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Verb is what a call of a client does.
type Verb uint8

// The verbs, as they are called in roles, except for Apply, which roles know as patch.
const (
	VerbGet Verb = iota
	VerbList
	VerbCreate
	VerbUpdate
	VerbPatch
	VerbApply
	VerbDelete
	VerbDeleteCollection

	// NumVerbs is how many there are: all are less.
	NumVerbs
)

// String returns the verb's name, in lower case.
func (v Verb) String() string {
	if v >= NumVerbs {
		return "unknown"
	}
	return [NumVerbs]string{"get", "list", "create", "update", "patch", "apply", "delete", "deletecollection"}[v]
}

// MarshalText implements encoding.TextMarshaler with the name.
func (v Verb) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Writes says whether the verb changes anything.
func (v Verb) Writes() bool { return v > VerbList }

// Call is one call of a client that has ended. It is valid as long as the call of the CallObserver that got it.
type Call struct {
	// Verb is what was done.
	Verb Verb
	// Subresource to which it was done. Empty: to the object itself.
	Subresource string
	// Err is what the call returned.
	Err error

	on     any // runtime.Object or runtime.ApplyConfiguration
	key    ObjectKey
	within []ListOption
	client *client
}

// Kind returns the kind of the object, or of the objects of a list. It is empty where it cannot be told.
func (c Call) Kind() schema.GroupVersionKind {
	var gvk schema.GroupVersionKind
	switch on := c.on.(type) {
	case ObjectList:
		gvk, _ = c.client.wire.itemKindOf(on)
	case runtime.Object:
		gvk, _ = c.client.wire.kindOf(on)
	case runtime.ApplyConfiguration:
		if a, err := encodeApply(on); err == nil {
			gvk = a.gvk
		}
	}
	return gvk
}

// Key returns the namespace and name of the object; of a list, the namespace that was asked for.
func (c Call) Key() ObjectKey {
	switch on := c.on.(type) {
	case ObjectList:
		return ObjectKey{Namespace: (&ListOptions{}).ApplyOptions(c.within).Namespace}
	case Object:
		if c.Verb == VerbGet || c.Verb == VerbDeleteCollection {
			return c.key
		}
		return ObjectKeyFromObject(on)
	case runtime.ApplyConfiguration:
		if a, err := encodeApply(on); err == nil {
			return a.at.key()
		}
	}
	return c.key
}

// Objects returns how many objects were read: those of a list, or one. It is 0 after an error and for writes.
func (c Call) Objects() int {
	switch {
	case c.Err != nil || c.Verb.Writes():
		return 0
	case c.Verb == VerbList:
		list, _ := c.on.(runtime.Object)
		return meta.LenList(list)
	}
	return 1
}

// Cached says whether it was a read that the cache answered.
func (c Call) Cached() bool {
	return !c.Verb.Writes() && c.Subresource == "" && c.client.readsCache(c.Kind(), c.on)
}

// CallObserver hears of the calls that are made with a context of ObserveCalls. It is called by the goroutines that
// make the calls, after each, and may be called by several at once.
type CallObserver interface {
	ObserveCall(Call)
}

// CallObserverKey is the key under which a context has its CallObserver.
type CallObserverKey struct{}

// ObserveCalls returns a context whose observer hears of each call of a client that is made with it, or with one
// derived from it. Clients of New and NewWithWatch, and those that wrap them, tell it; watches are not told.
func ObserveCalls(ctx context.Context, o CallObserver) context.Context {
	return context.WithValue(ctx, CallObserverKey{}, o)
}

// observedClient tells the CallObserver of each call's context.
type observedClient struct {
	*client
}

func (c observedClient) tell(ctx context.Context, call Call) error {
	if o, ok := ctx.Value(CallObserverKey{}).(CallObserver); ok {
		call.client = c.client
		o.ObserveCall(call)
	}
	return call.Err
}

func (c observedClient) Get(ctx context.Context, key ObjectKey, obj Object, opts ...GetOption) error {
	err := c.client.Get(ctx, key, obj, opts...)
	return c.tell(ctx, Call{Verb: VerbGet, Err: err, on: obj, key: key})
}

func (c observedClient) List(ctx context.Context, list ObjectList, opts ...ListOption) error {
	err := c.client.List(ctx, list, opts...)
	return c.tell(ctx, Call{Verb: VerbList, Err: err, on: list, within: opts})
}

func (c observedClient) Create(ctx context.Context, obj Object, opts ...CreateOption) error {
	err := c.client.Create(ctx, obj, opts...)
	return c.tell(ctx, Call{Verb: VerbCreate, Err: err, on: obj})
}

func (c observedClient) Update(ctx context.Context, obj Object, opts ...UpdateOption) error {
	err := c.client.Update(ctx, obj, opts...)
	return c.tell(ctx, Call{Verb: VerbUpdate, Err: err, on: obj})
}

func (c observedClient) Patch(ctx context.Context, obj Object, patch Patch, opts ...PatchOption) error {
	err := c.client.Patch(ctx, obj, patch, opts...)
	return c.tell(ctx, Call{Verb: VerbPatch, Err: err, on: obj})
}

func (c observedClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...ApplyOption) error {
	err := c.client.Apply(ctx, obj, opts...)
	return c.tell(ctx, Call{Verb: VerbApply, Err: err, on: obj})
}

func (c observedClient) Delete(ctx context.Context, obj Object, opts ...DeleteOption) error {
	err := c.client.Delete(ctx, obj, opts...)
	return c.tell(ctx, Call{Verb: VerbDelete, Err: err, on: obj})
}

func (c observedClient) DeleteAllOf(ctx context.Context, obj Object, opts ...DeleteAllOfOption) error {
	err := c.client.DeleteAllOf(ctx, obj, opts...)
	return c.tell(ctx, Call{Verb: VerbDeleteCollection, Err: err, on: obj, key: ObjectKey{
		Namespace: (&DeleteAllOfOptions{}).ApplyOptions(opts).Namespace,
	}})
}

func (c observedClient) Status() SubResourceWriter { return c.SubResource("status") }

func (c observedClient) SubResource(subResource string) SubResourceClient {
	return observedSubResource{c.client.SubResource(subResource), c, subResource}
}

type observedSubResource struct {
	SubResourceClient
	client observedClient
	name   string
}

func (s observedSubResource) tell(ctx context.Context, verb Verb, on any, err error) error {
	call := Call{Verb: verb, Subresource: s.name, Err: err, on: on}
	if obj, ok := on.(Object); ok && verb == VerbGet {
		call.key = ObjectKeyFromObject(obj)
	}
	return s.client.tell(ctx, call)
}

func (s observedSubResource) Get(ctx context.Context, obj Object, subResource Object, opts ...SubResourceGetOption) error {
	return s.tell(ctx, VerbGet, obj, s.SubResourceClient.Get(ctx, obj, subResource, opts...))
}

func (s observedSubResource) Create(ctx context.Context, obj Object, subResource Object, opts ...SubResourceCreateOption) error {
	return s.tell(ctx, VerbCreate, obj, s.SubResourceClient.Create(ctx, obj, subResource, opts...))
}

func (s observedSubResource) Update(ctx context.Context, obj Object, opts ...SubResourceUpdateOption) error {
	return s.tell(ctx, VerbUpdate, obj, s.SubResourceClient.Update(ctx, obj, opts...))
}

func (s observedSubResource) Patch(ctx context.Context, obj Object, patch Patch, opts ...SubResourcePatchOption) error {
	return s.tell(ctx, VerbPatch, obj, s.SubResourceClient.Patch(ctx, obj, patch, opts...))
}

func (s observedSubResource) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...SubResourceApplyOption) error {
	return s.tell(ctx, VerbApply, obj, s.SubResourceClient.Apply(ctx, obj, opts...))
}
