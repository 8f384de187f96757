package handler

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// OwnerOption changes which owners EnqueueRequestForOwner asks for.
type OwnerOption func(e enqueueRequestForOwnerInterface)

type enqueueRequestForOwnerInterface interface {
	setIsController(bool)
}

// OnlyControllerOwner restricts the owners to the one that is marked as the controller.
func OnlyControllerOwner() OwnerOption {
	return func(e enqueueRequestForOwnerInterface) { e.setIsController(true) }
}

// EnqueueRequestForOwner returns a handler that asks for the owners of the type of ownerType that the object
// has. Because of an update it asks for those before and for those after.
//
// It panics where scheme does not know ownerType.
func EnqueueRequestForOwner(scheme *runtime.Scheme, mapper meta.RESTMapper, ownerType client.Object, opts ...OwnerOption) EventHandler {
	return TypedEnqueueRequestForOwner[client.Object](scheme, mapper, ownerType, opts...)
}

// TypedEnqueueRequestForOwner returns a handler that asks for the owners of the type of ownerType that the
// object has. Because of an update it asks for those before and for those after.
//
// Owners of any version of the type count. mapper is asked, until it answers once, whether they live in namespaces; while it
// cannot, events wait for up to a minute each.
//
// It panics where scheme does not know ownerType.
func TypedEnqueueRequestForOwner[object client.Object](scheme *runtime.Scheme, mapper meta.RESTMapper, ownerType client.Object, opts ...OwnerOption) TypedEventHandler[object, reconcile.Request] {
	gvk, err := apiutil.GVKForObject(ownerType, scheme)
	if err != nil {
		panic(fmt.Errorf("owner type %T: %w", ownerType, err))
	}
	o := &owners{kind: gvk, mapper: mapper}
	for _, apply := range opts {
		apply(o)
	}
	return mapped[object, reconcile.Request]{func(ctx context.Context, obj object) []reconcile.Request {
		return o.requests(ctx, asObject(obj))
	}}
}

// owners finds the owners of one kind.
type owners struct {
	kind           schema.GroupVersionKind
	mapper         meta.RESTMapper
	onlyController bool
	scope          atomic.Pointer[meta.RESTScopeName] // of kind, once it is known
}

func (o *owners) setIsController(only bool) { o.onlyController = only }

func (o *owners) requests(ctx context.Context, obj client.Object) []reconcile.Request {
	if obj == nil {
		return nil
	}
	var requests []reconcile.Request
	for _, ref := range o.references(obj) {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err != nil {
			log.FromContext(ctx).Error(err, "Owner reference is ignored", "object", client.ObjectKeyFromObject(obj), "owner", ref.Name)
			continue
		}
		if ref.Kind != o.kind.Kind || gv.Group != o.kind.Group {
			continue
		}
		scope, err := o.scopeOf(ctx)
		if err != nil {
			log.FromContext(ctx).Error(err, "Owner cannot be reconciled", "kind", o.kind, "owner", ref.Name)
			return nil
		}
		request := reconcile.Request{NamespacedName: types.NamespacedName{Name: ref.Name}}
		if scope == meta.RESTScopeNameNamespace {
			request.Namespace = obj.GetNamespace()
		}
		requests = append(requests, request)
	}
	return requests
}

func (o *owners) references(obj client.Object) []metav1.OwnerReference {
	if !o.onlyController {
		return obj.GetOwnerReferences()
	}
	if ref := metav1.GetControllerOfNoCopy(obj); ref != nil {
		return []metav1.OwnerReference{*ref}
	}
	return nil
}

// An event waits for the mapper's answer, as long as the API server cannot be asked, for ownerPatience at most. It would be lost
// otherwise.
const (
	ownerPatience   = time.Minute
	firstOwnerPause = 50 * time.Millisecond
	longOwnerPause  = time.Second
)

// scopeOf asks until there is an answer; that there is no such kind is one.
func (o *owners) scopeOf(ctx context.Context) (meta.RESTScopeName, error) {
	begun := time.Now()
	for pause := firstOwnerPause; ; pause = min(2*pause, longOwnerPause) {
		if known := o.scope.Load(); known != nil {
			return *known, nil
		}
		mapping, err := meta.ToRESTMapperWithContext(o.mapper).RESTMappingWithContext(ctx, o.kind.GroupKind(), o.kind.Version)
		if err == nil {
			scope := mapping.Scope.Name()
			o.scope.Store(&scope)
			return scope, nil
		}
		err = fmt.Errorf("%s: %w", o.kind, err)
		if meta.IsNoMatchError(err) || time.Since(begun) > ownerPatience {
			return "", err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return "", err
		}
	}
}
