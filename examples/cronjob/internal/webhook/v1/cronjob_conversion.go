/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/pkg/webhook/conversion"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	batchv2 "tutorial.kubebuilder.io/project/api/v2"
)

// cronJobConverter converts CronJob objects from one version to another, by way of v1.
var cronJobConverter = conversion.NewHubSpokeConverter(&batchv1.CronJob{}, []conversion.SpokeConverter[*batchv1.CronJob]{
	conversion.NewSpokeConverter(&batchv2.CronJob{}, cronJobToV2, cronJobFromV2),
	// +kubebuilder:scaffold:spokes
}...)

// cronJobToV2 makes an object of version v2 of one of v1.
func cronJobToV2(ctx context.Context, src *batchv1.CronJob, dst *batchv2.CronJob) error {
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec = batchv2.CronJobSpec{
		Schedule:                   scheduleToV2(src.Spec.Schedule),
		StartingDeadlineSeconds:    src.Spec.StartingDeadlineSeconds,
		ConcurrencyPolicy:          batchv2.ConcurrencyPolicy(src.Spec.ConcurrencyPolicy),
		Suspend:                    src.Spec.Suspend,
		JobTemplate:                src.Spec.JobTemplate,
		SuccessfulJobsHistoryLimit: src.Spec.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     src.Spec.FailedJobsHistoryLimit,
	}
	dst.Status = batchv2.CronJobStatus(src.Status)
	return nil
}

// cronJobFromV2 makes an object of version v1 of one of v2.
func cronJobFromV2(ctx context.Context, src *batchv2.CronJob, dst *batchv1.CronJob) error {
	dst.ObjectMeta = src.ObjectMeta
	dst.Spec = batchv1.CronJobSpec{
		Schedule:                   scheduleFromV2(src.Spec.Schedule),
		StartingDeadlineSeconds:    src.Spec.StartingDeadlineSeconds,
		ConcurrencyPolicy:          batchv1.ConcurrencyPolicy(src.Spec.ConcurrencyPolicy),
		Suspend:                    src.Spec.Suspend,
		JobTemplate:                src.Spec.JobTemplate,
		SuccessfulJobsHistoryLimit: src.Spec.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     src.Spec.FailedJobsHistoryLimit,
	}
	dst.Status = batchv1.CronJobStatus(src.Status)
	return nil
}

// scheduleToV2 takes a schedule apart. What has not the form of one (the API server converts before it asks whether an object is valid)
// becomes a name, so that nothing is lost.
func scheduleToV2(text string) batchv2.CronSchedule {
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return batchv2.CronSchedule{Named: &text}
	}
	field := func(i int) *batchv2.CronField {
		if fields[i] == "*" {
			return nil
		}
		return ptr.To(batchv2.CronField(fields[i]))
	}
	return batchv2.CronSchedule{Minute: field(0), Hour: field(1), DayOfMonth: field(2), Month: field(3), DayOfWeek: field(4)}
}

// scheduleFromV2 puts a schedule together.
func scheduleFromV2(schedule batchv2.CronSchedule) string {
	if schedule.Named != nil {
		return *schedule.Named
	}
	var fields []string
	for _, field := range []*batchv2.CronField{schedule.Minute, schedule.Hour, schedule.DayOfMonth, schedule.Month, schedule.DayOfWeek} {
		fields = append(fields, string(ptr.Deref(field, "*")))
	}
	return strings.Join(fields, " ")
}
