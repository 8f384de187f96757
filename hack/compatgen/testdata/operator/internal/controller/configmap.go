// Package controller has reconcilers that use each sort of declaration: types, generic types, functions, generic
// functions, constants and variables.
package controller

import (
	"context"
	"errors"
	"time"

	"example.com/library"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const finalizer = "example.com/finalizer"

// Reconciles counts.
var Reconciles = prometheus.NewCounter(prometheus.CounterOpts{Name: "operator_reconciles_total"})

// ConfigMaps reconciles ConfigMaps.
type ConfigMaps struct {
	client.Client
}

var (
	_ reconcile.Reconciler                            = (*ConfigMaps)(nil)
	_ reconcile.ObjectReconciler[*appsv1.Deployment]  = deployments{}
	_ manager.Runnable                                = manager.RunnableFunc(nil)
	_ predicate.TypedPredicate[*corev1.Secret]        = library.Labelled[*corev1.Secret]("watched")
	_ handler.TypedEventHandler[*corev1.Secret, item] = handler.TypedFuncs[*corev1.Secret, item]{}
)

// item is a request of its own sort.
type item struct{ Name string }

// SetupWithManager adds all controllers to mgr.
func SetupWithManager(mgr ctrl.Manager) error {
	counting := &library.Counting{Client: mgr.GetClient()}
	err := ctrl.NewControllerManagedBy(mgr).
		For(&corev1.ConfigMap{}, builder.WithPredicates(predicate.Or[client.Object](predicate.ResourceVersionChangedPredicate{}, library.Labelled[client.Object]("always")))).
		Owns(&corev1.Secret{}, builder.OnlyMetadata).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, obj client.Object) []ctrl.Request {
			return []ctrl.Request{{NamespacedName: client.ObjectKeyFromObject(obj)}}
		})).
		WithOptions(controller.Options{MaxConcurrentReconciles: 2}).
		Complete(&ConfigMaps{Client: counting})
	if err != nil {
		return err
	}

	if err := ctrl.NewControllerManagedBy(mgr).For(&appsv1.Deployment{}).Complete(reconcile.AsReconciler(mgr.GetClient(), deployments{})); err != nil {
		return err
	}

	items, err := controller.NewTyped("items", mgr, controller.TypedOptions[item]{
		Reconciler: reconcile.TypedFunc[item](func(context.Context, item) (reconcile.Result, error) { return reconcile.Result{}, nil }),
	})
	if err != nil {
		return err
	}
	toItems := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, s *corev1.Secret) []item { return []item{{s.Name}} })
	return errors.Join(
		items.Watch(source.TypedKind(mgr.GetCache(), &corev1.Secret{}, toItems, library.Labelled[*corev1.Secret]("watched"))),
		items.Watch(source.TypedChannel(make(chan event.TypedGenericEvent[*corev1.Secret]), toItems)),
		mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { <-ctx.Done(); return nil })),
	)
}

// Reconcile gives a ConfigMap a Secret.
func (r *ConfigMaps) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	Reconciles.Inc()
	var cm corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if controllerutil.AddFinalizer(&cm, finalizer) {
		if err := r.Patch(ctx, &cm, client.RawPatch(types.MergePatchType, []byte(`{}`)), client.FieldOwner("operator"), client.DryRunAll); err != nil {
			return ctrl.Result{}, reconcile.TerminalError(err)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name}}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, secret, func() error {
		return ctrl.SetControllerReference(&cm, secret, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if result != controllerutil.OperationResultNone {
		log.FromContext(ctx).Info("secret", "result", result)
	}
	var list corev1.SecretList
	err = r.List(ctx, &list, client.InNamespace(cm.Namespace), client.MatchingLabels{"app": cm.Name}, client.Limit(10))
	return ctrl.Result{RequeueAfter: time.Minute}, err
}

type deployments struct{}

func (deployments) Reconcile(context.Context, *appsv1.Deployment) (reconcile.Result, error) {
	return reconcile.Result{}, nil
}
