package client

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// ApplyConfigurationFromUnstructured makes an apply configuration of u, whose fields are then exactly the ones applied.
// u must have been written for that: an object read from the server, or converted from a Go type, has fields that
// nobody meant to own. After Apply, u holds the server's answer.
func ApplyConfigurationFromUnstructured(u *unstructured.Unstructured) runtime.ApplyConfiguration {
	return &unstructuredApplyConfiguration{Unstructured: u}
}

type unstructuredApplyConfiguration struct {
	*unstructured.Unstructured
}

// IsApplyConfiguration implements runtime.ApplyConfiguration.
func (*unstructuredApplyConfiguration) IsApplyConfiguration() {}
