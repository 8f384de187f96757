package fake

import (
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client/apiutil"
	"github.com/operon-dev/operon/pkg/client/fake/internal/crdschema"
)

// kind is what the fake knows about one kind of object. It does not change once it has been handed out.
type kind struct {
	schema.GroupVersionKind
	traits trait
	// builtin says that Kubernetes itself serves the kind.
	builtin bool
	// resource names the kind in errors; tracked names it in the store.
	resource schema.GroupResource
	tracked  schema.GroupVersionResource
	// stored is the kind as it is stored: another version where a CustomResourceDefinition says so.
	stored schema.GroupVersionKind
	// goType is the type that the scheme has for the stored kind, or nil if it has none.
	goType reflect.Type
	// definition is the kind's version of its CustomResourceDefinition, or nil if none was given.
	definition *crdschema.Version
}

func (k *kind) has(t trait) bool { return k.traits&t != 0 }

// holdsMaps says that objects are stored as they were sent, not as a Go type knows them.
func (k *kind) holdsMaps() bool { return k.definition != nil || k.goType == nil }

// kinds finds out about kinds, and remembers.
type kinds struct {
	scheme      *runtime.Scheme
	mapper      meta.RESTMapper
	status      map[schema.GroupVersionKind]bool
	definitions map[schema.GroupVersionKind]*crdschema.Version

	known sync.Map // schema.GroupVersionKind → *kind
}

// of returns the kind of obj, which may be a list.
func (ks *kinds) of(obj runtime.Object) (*kind, error) {
	gvk, err := apiutil.GVKForObject(obj, ks.scheme)
	if err != nil {
		return nil, err
	}
	return ks.get(gvk), nil
}

// ofItems returns the kind of the items of list.
func (ks *kinds) ofItems(list runtime.Object) (*kind, error) {
	gvk, err := apiutil.GVKForObject(list, ks.scheme)
	if err != nil {
		return nil, err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	return ks.get(gvk), nil
}

func (ks *kinds) get(gvk schema.GroupVersionKind) *kind {
	if k, ok := ks.known.Load(gvk); ok {
		return k.(*kind)
	}
	k, complete := ks.find(gvk)
	if complete {
		ks.known.Store(gvk, k)
	}
	return k
}

// find returns what is known about gvk, and whether that is final: a type may yet be added to the scheme.
func (ks *kinds) find(gvk schema.GroupVersionKind) (*kind, bool) {
	k := &kind{GroupVersionKind: gvk, stored: gvk}
	k.traits, k.builtin = builtins[gvk.GroupKind()]
	if ks.status[gvk] {
		k.traits |= hasStatus
	}
	if d := ks.definitions[gvk]; d != nil {
		k.definition = d
		k.stored = d.Stored.WithKind(gvk.Kind)
		k.traits = hasGeneration
		if d.Status || ks.status[gvk] {
			k.traits |= hasStatus
		}
		if !d.Namespaced {
			k.traits |= clusterScoped
		}
	} else if !k.builtin {
		k.traits |= hasGeneration
	}
	k.tracked, _ = meta.UnsafeGuessKindToResource(k.stored)
	k.resource = k.tracked.GroupResource()
	if k.definition != nil {
		k.resource.Resource = k.definition.Resource
	} else if mapping, err := ks.mapper.RESTMapping(gvk.GroupKind(), gvk.Version); err == nil {
		k.resource = mapping.Resource.GroupResource()
		if mapping.Scope.Name() == meta.RESTScopeNameRoot {
			k.traits |= clusterScoped
		}
	}
	k.goType = ks.scheme.AllKnownTypes()[k.stored]
	return k, k.goType != nil || k.definition != nil
}
