/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"

	webappv1 "my.domain/guestbook/api/v1"
)

const (
	// ConditionAvailable says whether all pods of all tiers are ready.
	ConditionAvailable = "Available"

	// fieldOwner is who applies the tiers, to the API server.
	fieldOwner = client.FieldOwner("guestbook-controller")
)

// GuestbookReconciler reconciles Guestbook objects.
type GuestbookReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=webapp.my.domain,resources=guestbooks,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=webapp.my.domain,resources=guestbooks/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=webapp.my.domain,resources=guestbooks/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;patch

// Reconcile brings the cluster to what one Guestbook asks for. It is called when the object or one of its tiers has changed, whatever
// the change was, and again after an error.
func (r *GuestbookReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var guestbook webappv1.Guestbook
	if err := r.Get(ctx, req.NamespacedName, &guestbook); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !guestbook.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // the garbage collector takes the tiers
	}
	owner := metav1ac.OwnerReference().
		WithAPIVersion(webappv1.GroupVersion.String()).WithKind("Guestbook").WithName(guestbook.Name).WithUID(guestbook.UID).
		WithController(true).WithBlockOwnerDeletion(true)

	var counts webappv1.TierCounts
	var waiting []string
	for _, t := range tiers(&guestbook) {
		name := client.ObjectKey{Namespace: guestbook.Namespace, Name: t.name(&guestbook)}
		if err := r.Apply(ctx, t.service(&guestbook, owner), fieldOwner, client.ForceOwnership); err != nil {
			return ctrl.Result{}, fmt.Errorf("service %s: %w", name, err)
		}
		if err := r.Apply(ctx, t.deployment(&guestbook, owner), fieldOwner, client.ForceOwnership); err != nil {
			return ctrl.Result{}, fmt.Errorf("deployment %s: %w", name, err)
		}
		var deployment appsv1.Deployment
		if err := r.Get(ctx, name, &deployment); err != nil {
			return ctrl.Result{}, fmt.Errorf("deployment %s: %w", name, err)
		}
		if !t.ready(&deployment) {
			waiting = append(waiting, t.role)
		}
		switch t.role {
		case "leader":
			counts.Leader = deployment.Status.ReadyReplicas
		case "follower":
			counts.Followers = deployment.Status.ReadyReplicas
		case "frontend":
			counts.Frontends = deployment.Status.ReadyReplicas
		}
	}
	return ctrl.Result{}, r.updateStatus(ctx, &guestbook, counts, waiting)
}

// updateStatus writes the status, if it is not what it has to be. waiting are the roles of the tiers that are not ready.
func (r *GuestbookReconciler) updateStatus(ctx context.Context, guestbook *webappv1.Guestbook, counts webappv1.TierCounts, waiting []string) error {
	status := guestbook.Status.DeepCopy()
	status.Ready = counts
	condition := metav1.Condition{
		Type: ConditionAvailable, Status: metav1.ConditionTrue, Reason: "Ready", Message: "all pods are ready", ObservedGeneration: guestbook.Generation,
	}
	if len(waiting) > 0 {
		condition.Status, condition.Reason = metav1.ConditionFalse, "RollingOut"
		condition.Message = "not ready: " + strings.Join(waiting, ", ")
	}
	meta.SetStatusCondition(&status.Conditions, condition)
	if equality.Semantic.DeepEqual(*status, guestbook.Status) {
		return nil
	}
	guestbook.Status = *status
	if err := r.Status().Update(ctx, guestbook); err != nil {
		return fmt.Errorf("status of Guestbook %s: %w", client.ObjectKeyFromObject(guestbook), err)
	}
	return nil
}

// SetupWithManager adds the controller to a manager.
func (r *GuestbookReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&webappv1.Guestbook{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		Named("guestbook").
		Complete(r)
}
