/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	kbatchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConcurrencyPolicy says what happens when a Job is due while one of before has not ended.
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

const (
	// AllowConcurrent lets Jobs run side by side.
	AllowConcurrent ConcurrencyPolicy = "Allow"
	// ForbidConcurrent lets the new Job wait for the end of the one of before.
	ForbidConcurrent ConcurrencyPolicy = "Forbid"
	// ReplaceConcurrent deletes the Job of before.
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// CronJobSpec is what a user asks for.
type CronJobSpec struct {
	// schedule says when Jobs are due, in cron's format: minute, hour, day of month, month, day of week; or @hourly, @daily and the like, or
	// @every and a duration.
	// +kubebuilder:validation:MinLength=1
	Schedule string `json:"schedule"`

	// startingDeadlineSeconds is how late a Job may start, when it could not start in time. Without it, it may start at any time
	// before the next is due.
	// +optional
	// +kubebuilder:validation:Minimum=0
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// concurrencyPolicy says what happens when a Job is due while one of before has not ended: Allow (the default) lets them run side by
	// side, Forbid lets the new one wait, Replace deletes the old one.
	// +optional
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// suspend stops further Jobs from being started. Those that run go on.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// jobTemplate is what the Jobs are made from.
	JobTemplate kbatchv1.JobTemplateSpec `json:"jobTemplate"`

	// successfulJobsHistoryLimit is how many Jobs that succeeded are kept, the latest of them. The default is 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`

	// failedJobsHistoryLimit is how many Jobs that failed are kept, the latest of them. The default is 1.
	// +optional
	// +kubebuilder:validation:Minimum=0
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`
}

// CronJobStatus is what is there.
type CronJobStatus struct {
	// active are the Jobs that have not ended.
	// +listType=atomic
	// +optional
	Active []corev1.ObjectReference `json:"active,omitempty"`

	// lastScheduleTime is when the latest Job was due.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// conditions say how the object fares, each under its type.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="Suspend",type=boolean,JSONPath=`.spec.suspend`
// +kubebuilder:printcolumn:name="Last",type=date,JSONPath=`.status.lastScheduleTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:storageversion

// CronJob starts a Job whenever one is due.
type CronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what a user asks for.
	Spec CronJobSpec `json:"spec,omitempty"`
	// status is what is there.
	Status CronJobStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// CronJobList is a list of CronJob.
type CronJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CronJob `json:"items"`
}

func init() {
	SchemeBuilder.Register(&CronJob{}, &CronJobList{})
}
