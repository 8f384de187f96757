/*
Copyright 2026.

SPDX-License-Identifier: Apache-2.0
*/

// Package v1 is version v1 of the API group batch.tutorial.kubebuilder.io.
//
// +kubebuilder:object:generate=true
// +groupName=batch.tutorial.kubebuilder.io
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of the kinds in this package.
	GroupVersion = schema.GroupVersion{Group: "batch.tutorial.kubebuilder.io", Version: "v1"}

	// SchemeBuilder takes the kinds of this package: each file registers its own.
	SchemeBuilder = &kinds{}

	// AddToScheme adds the kinds to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

// +kubebuilder:object:generate=false
type kinds []runtime.Object

// Register notes kinds for AddToScheme.
func (k *kinds) Register(objects ...runtime.Object) { *k = append(*k, objects...) }

// AddToScheme adds the kinds that are registered to a scheme.
func (k *kinds) AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, *k...)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
