/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
	kbatchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller/controllerutil"
	logf "github.com/operon-dev/operon/pkg/log"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

const (
	// ownerIndex finds Jobs by the name of the CronJob that controls them.
	ownerIndex = ".metadata.controller"

	// ConditionScheduled says whether the CronJob has a schedule that can be followed, and is not suspended.
	ConditionScheduled = "Scheduled"
)

// CronJobReconciler reconciles CronJob objects. Its client reads from a cache with the index that SetupWithManager makes.
type CronJobReconciler struct {
	client.Client
	Scheme *runtime.Scheme
	// Now is the time; nil means the clock's.
	Now func() time.Time
}

// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=batch,resources=jobs/status,verbs=get

// Reconcile starts the Job that is due, keeps the history within its limits, and says in the status what there is. It comes again when the
// next Job is due, and whenever one changes.
func (r *CronJobReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cronJob batchv1.CronJob
	if err := r.Get(ctx, req.NamespacedName, &cronJob); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !cronJob.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil // the garbage collector takes the Jobs
	}
	var jobs kbatchv1.JobList
	if err := r.List(ctx, &jobs, client.InNamespace(req.Namespace), client.MatchingFields{ownerIndex: req.Name}); err != nil {
		return ctrl.Result{}, fmt.Errorf("jobs of CronJob %s: %w", req, err)
	}
	children := sortJobs(jobs.Items)

	schedule, scheduleErr := cron.ParseStandard(cronJob.Spec.Schedule)
	if err := r.updateStatus(ctx, &cronJob, children, scheduleErr); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.forget(ctx, &cronJob, children); err != nil {
		return ctrl.Result{}, err
	}
	if scheduleErr != nil || ptr.Deref(cronJob.Spec.Suspend, false) {
		return ctrl.Result{}, nil // until the spec changes
	}
	return r.startDue(ctx, &cronJob, schedule, children.active)
}

// updateStatus writes the status, if it is not what it has to be.
func (r *CronJobReconciler) updateStatus(ctx context.Context, cronJob *batchv1.CronJob, children children, scheduleErr error) error {
	status := cronJob.Status.DeepCopy()
	status.Active = references(children.active)
	if last := status.LastScheduleTime; !children.latest.IsZero() && (last == nil || last.Time.Before(children.latest)) {
		status.LastScheduleTime = &metav1.Time{Time: children.latest}
	}
	condition := metav1.Condition{
		Type: ConditionScheduled, Status: metav1.ConditionTrue, Reason: "Scheduled", Message: "Jobs start when they are due",
		ObservedGeneration: cronJob.Generation,
	}
	switch {
	case scheduleErr != nil: // no webhook has seen it
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "InvalidSchedule", scheduleErr.Error()
	case ptr.Deref(cronJob.Spec.Suspend, false):
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "Suspended", "spec.suspend is true"
	}
	meta.SetStatusCondition(&status.Conditions, condition)
	if equality.Semantic.DeepEqual(*status, cronJob.Status) {
		return nil
	}
	cronJob.Status = *status
	if err := r.Status().Update(ctx, cronJob); err != nil {
		return fmt.Errorf("status of CronJob %s: %w", client.ObjectKeyFromObject(cronJob), err)
	}
	return nil
}

// forget deletes the Jobs that have ended and are too many for the history.
func (r *CronJobReconciler) forget(ctx context.Context, cronJob *batchv1.CronJob, children children) error {
	return errors.Join(
		r.delete(ctx, surplus(children.succeeded, cronJob.Spec.SuccessfulJobsHistoryLimit, 3)),
		r.delete(ctx, surplus(children.failed, cronJob.Spec.FailedJobsHistoryLimit, 1)),
	)
}

// delete deletes Jobs and their pods. Those that are gone already, and those of another that have taken a name since, are left alone.
func (r *CronJobReconciler) delete(ctx context.Context, jobs []kbatchv1.Job) error {
	for _, job := range jobs {
		if !job.DeletionTimestamp.IsZero() {
			continue
		}
		err := r.Delete(ctx, &job, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &job.UID})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("job %s: %w", client.ObjectKeyFromObject(&job), err)
		}
		logf.FromContext(ctx).V(1).Info("deleted a Job", "job", job.Name)
	}
	return nil
}

// startDue starts the Job of the latest run, unless it has one, may not start or has to wait, and says when to come again.
func (r *CronJobReconciler) startDue(ctx context.Context, cronJob *batchv1.CronJob, schedule cron.Schedule, active []kbatchv1.Job) (ctrl.Result, error) {
	now := r.now()
	since := cronJob.CreationTimestamp.Time
	if last := cronJob.Status.LastScheduleTime; last != nil {
		since = last.Time
	}
	run, next := runs(schedule, since, now)
	var again ctrl.Result
	if !next.IsZero() { // as it is for a day that never comes, the 30th of February
		again.RequeueAfter = next.Sub(now)
	}
	if run.IsZero() {
		return again, nil
	}

	log := logf.FromContext(ctx).WithValues("run", run)
	if deadline := cronJob.Spec.StartingDeadlineSeconds; deadline != nil && now.Sub(run) > time.Duration(*deadline)*time.Second {
		log.V(1).Info("too late for this run")
		return again, nil
	}
	switch {
	case len(active) == 0:
	case cronJob.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent:
		log.V(1).Info("a Job of before has to end first", "active", len(active))
		return again, nil // its end comes as an event
	case cronJob.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent:
		if err := r.delete(ctx, active); err != nil {
			return ctrl.Result{}, err
		}
	}

	job := jobFor(cronJob, run)
	if err := controllerutil.SetControllerReference(cronJob, job, r.Scheme); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.Create(ctx, job); err != nil && !apierrors.IsAlreadyExists(err) {
		return ctrl.Result{}, fmt.Errorf("job %s: %w", client.ObjectKeyFromObject(job), err)
	}
	log.Info("started a Job", "job", job.Name)
	return again, nil
}

func (r *CronJobReconciler) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// controllerOf is the name of the CronJob that controls a Job, for the index.
func controllerOf(obj client.Object) []string {
	owner := metav1.GetControllerOf(obj)
	if owner == nil || owner.Kind != "CronJob" || owner.APIVersion != batchv1.GroupVersion.String() {
		return nil
	}
	return []string{owner.Name}
}

// SetupWithManager adds the controller to a manager.
func (r *CronJobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &kbatchv1.Job{}, ownerIndex, controllerOf); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&batchv1.CronJob{}).
		Owns(&kbatchv1.Job{}).
		Named("cronjob").
		Complete(r)
}
