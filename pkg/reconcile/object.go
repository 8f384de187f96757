package reconcile

import (
	"context"
	"reflect"

	"github.com/operon-dev/operon/pkg/client"
)

// ObjectReconciler is a reconciler that is handed the object instead of its name. AsReconciler makes a
// Reconciler of it.
type ObjectReconciler[object client.Object] interface {
	Reconcile(context.Context, object) (Result, error)
}

// AsReconciler returns a Reconciler that gets the named object with client and hands it, as its own copy, to
// rec. An object that does not exist any more is a reconciliation that is done, and not an error; what has to
// be cleaned up after a deletion needs a finalizer.
//
// object has to be a pointer to a Go type of its own: of unstructured objects and metadata the type does not
// say the kind.
func AsReconciler[object client.Object](client client.Client, rec ObjectReconciler[object]) Reconciler {
	return &objectReconciler[object]{
		reader: client,
		of:     rec,
		elem:   reflect.TypeFor[object]().Elem(),
	}
}

type objectReconciler[object client.Object] struct {
	reader client.Reader
	of     ObjectReconciler[object]
	elem   reflect.Type // of the pointer that object is
}

func (a *objectReconciler[object]) Reconcile(ctx context.Context, req Request) (Result, error) {
	o := reflect.New(a.elem).Interface().(object)
	if err := a.reader.Get(ctx, req.NamespacedName, o); err != nil {
		return Result{}, client.IgnoreNotFound(err)
	}
	return a.of.Reconcile(ctx, o)
}
