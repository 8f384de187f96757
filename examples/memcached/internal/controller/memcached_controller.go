// Package controller brings Memcached objects about: for each of them a Deployment and a headless Service of the same
// name, which it owns, and a status that names the pods.
//
// A Reconcile looks at one Memcached as it is now, whatever the event was, and writes only what differs. What the
// user or the cluster adds to the Deployment and the Service beyond the fields set here stays as it is.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller/controllerutil"
	"github.com/operon-dev/operon/pkg/handler"
	logf "github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/reconcile"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

// lookAgain is when a Reconcile that was overtaken by another writer is repeated, unless an event does so before.
const lookAgain = time.Second

// MemcachedReconciler reconciles Memcached objects. All its fields must be set.
type MemcachedReconciler struct {
	client.Client
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder
}

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=get;list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=update
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager adds the controller to mgr.
func (r *MemcachedReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("memcached").
		For(&cachev1alpha1.Memcached{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		// A pod's owner is a ReplicaSet, so it is its labels that lead back to the Memcached.
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(memcachedOfPod)).
		Complete(r)
}

// CacheOptions keeps all pods but those of Memcached objects out of the manager's memory.
func CacheOptions() cache.Options {
	return cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.Pod{}: {Label: labels.SelectorFromSet(labels.Set{labelName: appName})},
	}}
}

func memcachedOfPod(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[labelInstance]
	if name == "" || pod.GetLabels()[labelName] != appName {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}

// Reconcile brings the Deployment, the Service and the status of one Memcached to what its spec asks for.
func (r *MemcachedReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	memcached := &cachev1alpha1.Memcached{}
	if err := r.Get(ctx, req.NamespacedName, memcached); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !memcached.DeletionTimestamp.IsZero() {
		// The garbage collector takes away what it owns; putting it back would only hold that up.
		return ctrl.Result{}, nil
	}

	deployment, err := r.ensureDeployment(ctx, memcached)
	if err == nil {
		err = r.ensureService(ctx, memcached)
	}
	if !overtaken(err) {
		err = errors.Join(err, r.updateStatus(ctx, memcached, deployment, err))
	}
	if overtaken(err) {
		logf.FromContext(ctx).V(1).Info("overtaken by another writer", "reason", err.Error())
		return ctrl.Result{RequeueAfter: lookAgain}, nil
	}
	return ctrl.Result{}, err
}

// overtaken reports whether err says that an object changed, went or came while it was being reconciled. Nothing is
// wrong then. The event of that change mostly brings the next Reconcile, but not always: a Deployment that has lost its
// owner reference doesn't lead here any more.
func overtaken(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

func (r *MemcachedReconciler) ensureDeployment(ctx context.Context, memcached *cachev1alpha1.Memcached) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: memcached.Namespace, Name: memcached.Name}}
	return deployment, r.ensure(ctx, memcached, "Deployment", deployment, func() { setDeployment(deployment, memcached) })
}

func (r *MemcachedReconciler) ensureService(ctx context.Context, memcached *cachev1alpha1.Memcached) error {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: memcached.Namespace, Name: memcached.Name}}
	return r.ensure(ctx, memcached, "Service", service, func() { setService(service, memcached) })
}

// ensure creates obj, or updates it where set changes it, so that it is as set makes it and belongs to memcached.
// Setting fields on the live object, rather than applying a whole one, makes a reconcile that finds nothing to do one
// without any request to the API server.
func (r *MemcachedReconciler) ensure(ctx context.Context, memcached *cachev1alpha1.Memcached, kind string, obj client.Object, set func()) error {
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, obj, func() error {
		set()
		return controllerutil.SetControllerReference(memcached, obj, r.Scheme)
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", kind, client.ObjectKeyFromObject(obj), err)
	}
	var reason, action string
	switch result {
	case controllerutil.OperationResultCreated:
		reason, action = "Created", "Create"
	case controllerutil.OperationResultUpdated:
		reason, action = "Updated", "Update"
	default:
		return nil
	}
	logf.FromContext(ctx).Info(reason+" "+kind, "child", obj.GetName())
	r.Recorder.Eventf(memcached, obj, corev1.EventTypeNormal, reason, action, "%s %s %s", reason, kind, obj.GetName())
	return nil
}

func (r *MemcachedReconciler) updateStatus(ctx context.Context, memcached *cachev1alpha1.Memcached, deployment *appsv1.Deployment, reconcileErr error) error {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(memcached.Namespace), client.MatchingLabels(selectorLabels(memcached))); err != nil {
		return fmt.Errorf("pods of Memcached %s: %w", client.ObjectKeyFromObject(memcached), err)
	}
	status := statusOf(memcached, deployment, pods.Items, reconcileErr)
	if equality.Semantic.DeepEqual(memcached.Status, status) {
		return nil
	}
	memcached.Status = status
	if err := r.Status().Update(ctx, memcached); err != nil {
		return fmt.Errorf("status of Memcached %s: %w", client.ObjectKeyFromObject(memcached), err)
	}
	return nil
}
