package synced

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// patience is how long Await waits before it asks what the API server serves, in seconds enough for a busy machine, where asking is all that is lost.
const patience = 5 * time.Second

// A Factory is an informers.SharedInformerFactory, whose package would have all typed informers compiled into this one.
type Factory interface {
	WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult
}

// Await returns when all informers that the factory has started have seen the cluster, when ctx ends, or with an error when the API server does not
// serve what one of them lists.
func Await(ctx context.Context, started Factory, api discovery.ServerResourcesInterfaceWithContext) error {
	first, done := context.WithTimeout(ctx, patience)
	defer done()
	waited := started.WaitForCacheSyncWithContext(first)
	var late []reflect.Type
	for kind, synced := range waited.Synced {
		if !synced {
			late = append(late, kind)
		}
	}
	if len(late) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	missing, err := unserved(ctx, api, late)
	if err == nil && len(missing) > 0 {
		return fmt.Errorf("a component waits for %s, which the API server does not serve: switch that on, with --kube-apiserver-arg runtime-config=%s=true, or leave out the feature gate that needs it",
			strings.Join(missing, ", "), strings.Join(missing, "=true,"))
	}
	started.WaitForCacheSyncWithContext(ctx)
	return ctx.Err()
}

// unserved returns the group versions of Go types whose kinds the API server does not serve.
func unserved(ctx context.Context, api discovery.ServerResourcesInterfaceWithContext, types []reflect.Type) ([]string, error) {
	var missing []string
	for _, t := range types {
		obj, ok := reflect.New(t.Elem()).Interface().(runtime.Object)
		if !ok {
			continue
		}
		kinds, _, err := scheme.Scheme.ObjectKinds(obj)
		if err != nil {
			return nil, err
		}
		served, err := serves(ctx, api, kinds[0])
		if err != nil {
			return nil, err
		}
		if version := kinds[0].GroupVersion().String(); !served && !slices.Contains(missing, version) {
			missing = append(missing, version)
		}
	}
	slices.Sort(missing)
	return missing, nil
}

func serves(ctx context.Context, api discovery.ServerResourcesInterfaceWithContext, kind schema.GroupVersionKind) (bool, error) {
	list, err := api.ServerResourcesForGroupVersionWithContext(ctx, kind.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind.Kind }), nil
}
