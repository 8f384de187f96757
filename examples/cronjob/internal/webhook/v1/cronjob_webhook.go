/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"strings"

	"github.com/robfig/cron/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/webhook/admission"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// SetupCronJobWebhookWithManager has a manager serve the webhooks of CronJob.
func SetupCronJobWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &batchv1.CronJob{}).
		WithDefaulter(&CronJobCustomDefaulter{}).
		WithValidator(&CronJobCustomValidator{}).
		WithConverter(cronJobConverter).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=mcronjob-v1.kb.io,admissionReviewVersions=v1

// CronJobCustomDefaulter fills in what CronJob objects leave open.
//
// +kubebuilder:object:generate=false
type CronJobCustomDefaulter struct{}

// Default changes obj, which is about to be created or updated.
func (d *CronJobCustomDefaulter) Default(ctx context.Context, obj *batchv1.CronJob) error {
	spec := &obj.Spec
	if spec.ConcurrencyPolicy == "" {
		spec.ConcurrencyPolicy = batchv1.AllowConcurrent
	}
	if spec.Suspend == nil {
		spec.Suspend = ptr.To(false)
	}
	if spec.SuccessfulJobsHistoryLimit == nil {
		spec.SuccessfulJobsHistoryLimit = ptr.To[int32](3)
	}
	if spec.FailedJobsHistoryLimit == nil {
		spec.FailedJobsHistoryLimit = ptr.To[int32](1)
	}
	return nil
}

// +kubebuilder:webhook:path=/validate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=vcronjob-v1.kb.io,admissionReviewVersions=v1

// CronJobCustomValidator refuses CronJob objects that are not as they should be.
//
// +kubebuilder:object:generate=false
type CronJobCustomValidator struct{}

// ValidateCreate returns an error to refuse an object that is about to be created.
func (v *CronJobCustomValidator) ValidateCreate(ctx context.Context, obj *batchv1.CronJob) (admission.Warnings, error) {
	return nil, v.validate(obj)
}

// ValidateUpdate returns an error to refuse a change.
func (v *CronJobCustomValidator) ValidateUpdate(ctx context.Context, old, obj *batchv1.CronJob) (admission.Warnings, error) {
	return nil, v.validate(obj)
}

// ValidateDelete returns an error to refuse a deletion. It is called if the marker above names the verb delete too.
func (v *CronJobCustomValidator) ValidateDelete(ctx context.Context, obj *batchv1.CronJob) (admission.Warnings, error) {
	return nil, nil
}

// maxNameLength is what a Job's name, at most 63 characters, leaves for the CronJob's: a hyphen and the time of the run come after it.
const maxNameLength = 52

// validate says what is wrong with an object, whether it is new or changed. What the schema of the kind says is checked already.
func (v *CronJobCustomValidator) validate(obj *batchv1.CronJob) error {
	var errs field.ErrorList
	if len(obj.Name) > maxNameLength {
		errs = append(errs, field.TooLong(field.NewPath("metadata", "name"), obj.Name, maxNameLength))
	}
	schedule := field.NewPath("spec", "schedule")
	if strings.Contains(obj.Spec.Schedule, "TZ=") {
		errs = append(errs, field.Invalid(schedule, obj.Spec.Schedule, "a time zone cannot be given: runs are in the manager's"))
	} else if _, err := cron.ParseStandard(obj.Spec.Schedule); err != nil {
		errs = append(errs, field.Invalid(schedule, obj.Spec.Schedule, err.Error()))
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(batchv1.GroupVersion.WithKind("CronJob").GroupKind(), obj.Name, errs)
}
