/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// DefaultReplicas is how many pods an Application has that does not say.
	DefaultReplicas int32 = 1
	// DefaultPort is where an Application listens that does not say.
	DefaultPort int32 = 8080
)

// ApplicationSpec is what a user asks for.
type ApplicationSpec struct {
	// image is what runs, with a tag or a digest.
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`

	// replicas is how many pods there are. The default, which the webhook sets, is 1.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=50
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// port is where the program listens, and the Service too. The default, which the webhook sets, is 8080.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`
}

// ApplicationStatus is what is there.
type ApplicationStatus struct {
	// replicas is how many pods there are.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is how many of them are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector is the label selector of the pods, for kubectl scale and autoscalers.
	// +optional
	Selector string `json:"selector,omitempty"`

	// conditions say how the object fares, each under its type.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`

// Application is a program that runs in some pods and is reached by a Service.
type Application struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what a user asks for.
	Spec ApplicationSpec `json:"spec,omitempty"`
	// status is what is there.
	Status ApplicationStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true

// ApplicationList is a list of Application.
type ApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Application `json:"items"`
}

func init() {
	SchemeBuilder.Register(&Application{}, &ApplicationList{})
}
