/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller/controllerutil"
	logf "github.com/operon-dev/operon/pkg/log"

	appsv1alpha1 "app/api/v1alpha1"
)

// ConditionAvailable says whether as many pods are ready as were asked for.
const ConditionAvailable = "Available"

// ApplicationReconciler reconciles Application objects.
type ApplicationReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=apps.example.io,resources=applications,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=apps.example.io,resources=applications/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=apps.example.io,resources=applications/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;update

// Reconcile brings the cluster to what one Application asks for. It is called when the object or something of its has changed, whatever
// the change was, and again after an error.
func (r *ApplicationReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var app appsv1alpha1.Application
	if err := r.Get(ctx, req.NamespacedName, &app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !app.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // the garbage collector takes what it owns
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
	if err := r.ensure(ctx, &app, "Deployment", deployment, func() { setDeployment(deployment, &app) }); err != nil {
		return ctrl.Result{}, err
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
	if err := r.ensure(ctx, &app, "Service", service, func() { setService(service, &app) }); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.updateStatus(ctx, &app, deployment)
}

// ensure has an object be as set makes it, and belong to app.
func (r *ApplicationReconciler) ensure(ctx context.Context, app *appsv1alpha1.Application, kind string, obj client.Object, set func()) error {
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, obj, func() error {
		set()
		return controllerutil.SetControllerReference(app, obj, r.Scheme)
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", kind, client.ObjectKeyFromObject(obj), err)
	}
	if result != controllerutil.OperationResultNone {
		logf.FromContext(ctx).Info(fmt.Sprintf("%s %s", kind, result))
	}
	return nil
}

// selector is the labels of an Application's pods.
func selector(app *appsv1alpha1.Application) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "application", "app.kubernetes.io/instance": app.Name}
}

func setDeployment(deployment *appsv1.Deployment, app *appsv1alpha1.Application) {
	deployment.Spec.Replicas = ptr.To(ptr.Deref(app.Spec.Replicas, appsv1alpha1.DefaultReplicas))
	if deployment.Spec.Selector == nil { // it cannot be changed later
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: selector(app)}
	}
	template := &deployment.Spec.Template
	template.Labels = labels.Merge(template.Labels, selector(app))
	if len(template.Spec.Containers) == 0 {
		template.Spec.Containers = []corev1.Container{{Name: "application"}}
	}
	container := &template.Spec.Containers[0] // what the API server has set in it stays
	container.Image = app.Spec.Image
	container.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: port(app), Protocol: corev1.ProtocolTCP}}
}

func setService(service *corev1.Service, app *appsv1alpha1.Application) {
	service.Spec.Selector = selector(app)
	service.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: port(app), TargetPort: intstr.FromString("http"), Protocol: corev1.ProtocolTCP}}
}

func port(app *appsv1alpha1.Application) int32 {
	return ptr.Deref(app.Spec.Port, appsv1alpha1.DefaultPort)
}

// updateStatus writes the status, if it is not what it has to be.
func (r *ApplicationReconciler) updateStatus(ctx context.Context, app *appsv1alpha1.Application, deployment *appsv1.Deployment) error {
	status := app.Status.DeepCopy()
	status.Replicas = deployment.Status.Replicas
	status.ReadyReplicas = deployment.Status.ReadyReplicas
	status.Selector = labels.SelectorFromSet(selector(app)).String()
	wanted := *deployment.Spec.Replicas
	condition := metav1.Condition{
		Type: ConditionAvailable, Status: metav1.ConditionFalse, Reason: "RollingOut", ObservedGeneration: app.Generation,
		Message: fmt.Sprintf("%d of %d pods are ready", status.ReadyReplicas, wanted),
	}
	if deployment.Status.ObservedGeneration == deployment.Generation && deployment.Status.UpdatedReplicas == wanted && status.ReadyReplicas == wanted {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Ready"
	}
	meta.SetStatusCondition(&status.Conditions, condition)
	if equality.Semantic.DeepEqual(*status, app.Status) {
		return nil
	}
	app.Status = *status
	if err := r.Status().Update(ctx, app); err != nil {
		return fmt.Errorf("status of Application %s: %w", client.ObjectKeyFromObject(app), err)
	}
	return nil
}

// SetupWithManager adds the controller to a manager.
func (r *ApplicationReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&appsv1alpha1.Application{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Named("application").
		Complete(r)
}
