package client

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Object is an API object with a name: something that could be written down as YAML and given to "kubectl create".
// Every type that embeds metav1.TypeMeta and metav1.ObjectMeta and has a DeepCopyObject method is one.
type Object interface {
	metav1.Object
	runtime.Object
}

// ObjectList is a list of API objects as the server answers it. Every type that embeds metav1.TypeMeta and
// metav1.ListMeta, has an Items field and a DeepCopyObject method is one.
type ObjectList interface {
	metav1.ListInterface
	runtime.Object
}

// ObjectKey is the namespace and name of an object. The namespace of a cluster-scoped object is empty.
type ObjectKey = types.NamespacedName

// ObjectKeyFromObject returns the namespace and name that obj carries.
func ObjectKeyFromObject(obj Object) ObjectKey {
	return ObjectKey{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
