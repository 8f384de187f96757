package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// object and objectList are what both libraries' clients take.
type object interface {
	metav1.Object
	runtime.Object
}

type objectList interface {
	metav1.ListInterface
	runtime.Object
}

// objects is a client of either library, as far as the rows need one.
type objects interface {
	get(ctx context.Context, key types.NamespacedName, into object) error
	list(ctx context.Context, into objectList, namespace string) error
	create(ctx context.Context, obj object) error
	update(ctx context.Context, obj object) error
	updateStatus(ctx context.Context, obj object) error
	// patch sends the merge patch that makes obj of base.
	patch(ctx context.Context, obj, base object) error
	apply(ctx context.Context, obj runtime.ApplyConfiguration, owner string) error
}

// operatorSpec is a manager with one controller, said once for both libraries. What it leaves out has the default of the
// library; there are no metrics and no probes.
type operatorSpec struct {
	scheme    *runtime.Scheme // nil: client-go's
	mapper    meta.RESTMapper // nil: made by discovery
	namespace string          // of all that is cached; empty: all namespaces
	workers   int             // 0: the default
	leader    *leaderSpec     // nil: no leader election
	variant   variant         // of the peer; Operon has none

	kind      object
	owns      []object
	reconcile func(context.Context, objects, types.NamespacedName) error
}

// leaderSpec is a leader election, by the defaults but for its periods and for the release of the lease when a manager ends.
type leaderSpec struct {
	id     string
	warmup bool
}

// The periods of leader election, a few seconds long as operators have them that care about failover. By the defaults, which are
// 15 s, 10 s and 2 s, the others wait for the lease so long that what comes then could not be told from chance.
const (
	leaseDuration = 2 * time.Second
	renewDeadline = 1500 * time.Millisecond
	retryPeriod   = 200 * time.Millisecond
)

// variant is an opt-in of controller-runtime's that changes a row.
type variant int

const (
	byDefault variant = iota
	plainQueue
	readYourWrites
)

// operator is a manager that is ready to be started.
type operator struct {
	objects objects
	start   func(context.Context) error
}

// operatorMaker is one of the libraries.
type operatorMaker func(*rest.Config, operatorSpec) (operator, error)
