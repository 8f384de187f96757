package client

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// ApplyConfigurationFromUnstructured makes an apply configuration of u, whose fields are then exactly the ones applied.
// u must have been written for that: an object read from the server, or converted from a Go type, has fields that
// nobody meant to own. After Apply, u holds the server's answer.
func ApplyConfigurationFromUnstructured(u *unstructured.Unstructured) runtime.ApplyConfiguration {
	return &unstructuredApplyConfiguration{Unstructured: u}
}

// callSetter calls a method that all generated apply configurations have, each with a result of its own type. It reports false
// if config does not have it.
func callSetter(config runtime.ApplyConfiguration, method, value string) bool {
	set := reflect.ValueOf(config).MethodByName(method)
	if !set.IsValid() || set.Type().NumIn() != 1 || set.Type().In(0).Kind() != reflect.String {
		return false
	}
	set.Call([]reflect.Value{reflect.ValueOf(value)})
	return true
}

// setResourceVersion sets the resourceVersion of config, if it can hold one.
func setResourceVersion(config runtime.ApplyConfiguration, version string) {
	if u, ok := config.(*unstructuredApplyConfiguration); ok {
		u.SetResourceVersion(version)
		return
	}
	callSetter(config, "WithResourceVersion", version)
}

type unstructuredApplyConfiguration struct {
	*unstructured.Unstructured
}

// IsApplyConfiguration implements runtime.ApplyConfiguration.
func (*unstructuredApplyConfiguration) IsApplyConfiguration() {}
