/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	batchv2 "tutorial.kubebuilder.io/project/api/v2"
)

func TestCronJobDefaults(t *testing.T) {
	obj := &batchv1.CronJob{}
	if err := (&CronJobCustomDefaulter{}).Default(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if spec := obj.Spec; spec.ConcurrencyPolicy != batchv1.AllowConcurrent || *spec.Suspend ||
		*spec.SuccessfulJobsHistoryLimit != 3 || *spec.FailedJobsHistoryLimit != 1 {
		t.Errorf("defaults: %+v", spec)
	}

	obj.Spec = batchv1.CronJobSpec{
		ConcurrencyPolicy: batchv1.ForbidConcurrent, Suspend: ptr.To(true), SuccessfulJobsHistoryLimit: ptr.To[int32](0), FailedJobsHistoryLimit: ptr.To[int32](0),
	}
	if err := (&CronJobCustomDefaulter{}).Default(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if spec := obj.Spec; spec.ConcurrencyPolicy != batchv1.ForbidConcurrent || !*spec.Suspend ||
		*spec.SuccessfulJobsHistoryLimit != 0 || *spec.FailedJobsHistoryLimit != 0 {
		t.Errorf("what was set has changed: %+v", spec)
	}
}

func TestCronJobValidation(t *testing.T) {
	for _, tt := range []struct {
		name, object, schedule string
		wrong                  []string // what an error has to name; none means that there is none
	}{
		{"every five minutes", "backup", "*/5 * * * *", nil},
		{"a name of a schedule", "backup", "@daily", nil},
		{"an interval", "backup", "@every 90s", nil},
		{"the longest name", strings.Repeat("n", 52), "@daily", nil},
		{"a name that leaves no room", strings.Repeat("n", 53), "@daily", []string{"metadata.name"}},
		{"no schedule", "backup", "now and then", []string{"spec.schedule", "now and then"}},
		{"an hour that there is not", "backup", "0 25 * * *", []string{"spec.schedule"}},
		{"seconds", "backup", "0 0 3 * * *", []string{"spec.schedule"}},
		{"a time zone", "backup", "TZ=Asia/Seoul 0 3 * * *", []string{"spec.schedule", "time zone"}},
		{"two mistakes", strings.Repeat("n", 53), "", []string{"metadata.name", "spec.schedule"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: tt.object}, Spec: batchv1.CronJobSpec{Schedule: tt.schedule}}
			_, err := (&CronJobCustomValidator{}).ValidateCreate(t.Context(), obj)
			if (err == nil) != (tt.wrong == nil) {
				t.Fatalf("ValidateCreate: %v", err)
			}
			for _, wrong := range tt.wrong {
				if !strings.Contains(err.Error(), wrong) {
					t.Errorf("error %q does not say %q", err, wrong)
				}
			}
		})
	}
}

func TestCronJobSchedulesSurviveConversion(t *testing.T) {
	for _, tt := range []struct {
		v1 string
		v2 batchv2.CronSchedule
	}{
		{"*/5 * * * *", batchv2.CronSchedule{Minute: ptr.To(batchv2.CronField("*/5"))}},
		{"* * * * *", batchv2.CronSchedule{}},
		{"0 3 1 JAN *", batchv2.CronSchedule{
			Minute: ptr.To(batchv2.CronField("0")), Hour: ptr.To(batchv2.CronField("3")), DayOfMonth: ptr.To(batchv2.CronField("1")), Month: ptr.To(batchv2.CronField("JAN")),
		}},
		{"0 0 * * 1-5", batchv2.CronSchedule{
			Minute: ptr.To(batchv2.CronField("0")), Hour: ptr.To(batchv2.CronField("0")), DayOfWeek: ptr.To(batchv2.CronField("1-5")),
		}},
		{"@every 1h30m", batchv2.CronSchedule{Named: ptr.To("@every 1h30m")}},
		{"no schedule at all", batchv2.CronSchedule{Named: ptr.To("no schedule at all")}},
	} {
		t.Run(tt.v1, func(t *testing.T) {
			if got := scheduleToV2(tt.v1); !equality.Semantic.DeepEqual(got, tt.v2) {
				t.Errorf("in v2: %+v", got)
			}
			if got := scheduleFromV2(tt.v2); got != tt.v1 {
				t.Errorf("back in v1: %q", got)
			}
		})
	}
}

func TestCronJobsSurviveConversion(t *testing.T) {
	before := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "backup", Labels: map[string]string{"a": "b"}},
		Spec: batchv1.CronJobSpec{
			Schedule: "0 3 * * *", StartingDeadlineSeconds: ptr.To[int64](60), ConcurrencyPolicy: batchv1.ReplaceConcurrent,
			Suspend: ptr.To(true), SuccessfulJobsHistoryLimit: ptr.To[int32](2), FailedJobsHistoryLimit: ptr.To[int32](4),
		},
		Status: batchv1.CronJobStatus{LastScheduleTime: &metav1.Time{}, Conditions: []metav1.Condition{{Type: "Scheduled"}}},
	}
	before.Spec.JobTemplate.Spec.Parallelism = ptr.To[int32](7)
	var between batchv2.CronJob
	var after batchv1.CronJob
	if err := cronJobToV2(t.Context(), before, &between); err != nil {
		t.Fatal(err)
	}
	if err := cronJobFromV2(t.Context(), &between, &after); err != nil {
		t.Fatal(err)
	}
	if !equality.Semantic.DeepEqual(before, &after) {
		t.Errorf("before %+v\nafter  %+v", before, &after)
	}
}
