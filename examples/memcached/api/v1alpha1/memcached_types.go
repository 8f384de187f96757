package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions of a Memcached.
const (
	// ConditionAvailable is true while all the nodes that the spec asks for serve.
	ConditionAvailable = "Available"
	// ConditionProgressing is true while the nodes are being brought to what the spec asks for.
	ConditionProgressing = "Progressing"
	// ConditionDegraded is true when the operator can't get any further by itself; the message says why.
	ConditionDegraded = "Degraded"
)

// MemcachedSpec is what the user asks for.
type MemcachedSpec struct {
	// size is the number of memcached nodes, each of them a pod.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Size int32 `json:"size"`

	// image is the container image that the nodes run. It is expected to listen on port 11211.
	// +optional
	// +kubebuilder:default="memcached:1.6-alpine"
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image,omitempty"`
}

// MemcachedStatus is what the operator last saw.
type MemcachedStatus struct {
	// nodes are the names of the pods that make up the cache, sorted; pods that are on their way out aren't among them.
	// +optional
	// +listType=set
	Nodes []string `json:"nodes,omitempty"`

	// replicas is the number of pods that exist, as the scale subresource reports it.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of pods that serve.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// selector selects the pods, as the scale subresource reports it.
	// +optional
	Selector string `json:"selector,omitempty"`

	// conditions are Available, Progressing and Degraded.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Memcached is a group of memcached nodes behind a headless Service of the same name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name="Nodes",type=string,JSONPath=`.status.nodes`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="the name is also the name of a Service: at most 63 of a-z, 0-9 and -, starting with a letter"
type Memcached struct {
	metav1.TypeMeta `json:",inline"`

	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec MemcachedSpec `json:"spec"`

	// +optional
	Status MemcachedStatus `json:"status,omitempty"`
}

// MemcachedList is a list of Memcached.
//
// +kubebuilder:object:root=true
type MemcachedList struct {
	metav1.TypeMeta `json:",inline"`

	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Memcached `json:"items"`
}
