/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GuestbookSpec is what a user asks for.
type GuestbookSpec struct {
	// frontends is how many pods serve the guestbook's pages.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	// +optional
	Frontends *int32 `json:"frontends,omitempty"`

	// image is what serves the pages.
	// +kubebuilder:default="gcr.io/google-samples/gb-frontend:v5"
	// +kubebuilder:validation:MinLength=1
	// +optional
	Image string `json:"image,omitempty"`

	// followers is how many copies of the entries there are to read from, besides the leader's.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	// +optional
	Followers *int32 `json:"followers,omitempty"`
}

// GuestbookStatus is what is there.
type GuestbookStatus struct {
	// ready is how many pods of each tier are ready.
	// +optional
	Ready TierCounts `json:"ready,omitempty"`

	// conditions say how the object fares, each under its type.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// TierCounts is a number for each tier of a guestbook.
type TierCounts struct {
	// leader is 1 where entries can be written.
	// +optional
	Leader int32 `json:"leader"`
	// followers is how many copies there are.
	// +optional
	Followers int32 `json:"followers"`
	// frontends is how many pods serve the pages.
	// +optional
	Frontends int32 `json:"frontends"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Frontends",type=integer,JSONPath=`.status.ready.frontends`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`

// Guestbook is a web page that people sign: frontends before a leader that keeps the entries, and followers that copy it.
type Guestbook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what a user asks for.
	Spec GuestbookSpec `json:"spec,omitempty"`
	// status is what is there.
	Status GuestbookStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// GuestbookList is a list of Guestbook.
type GuestbookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Guestbook `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Guestbook{}, &GuestbookList{})
}
