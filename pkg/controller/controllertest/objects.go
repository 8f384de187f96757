package controllertest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	_ runtime.Object = ErrorType{}
	_ runtime.Object = &UnconventionalListType{}
	_ runtime.Object = &UnconventionalListTypeList{}
)

// ErrorType is an object that no scheme knows: whoever asks one for its kind gets an error.
type ErrorType struct{}

// GetObjectKind returns a kind that is empty and stays so.
func (ErrorType) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object.
func (ErrorType) DeepCopyObject() runtime.Object { return ErrorType{} }

// UnconventionalListType is an object whose list has pointers for items.
type UnconventionalListType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              string `json:"spec,omitempty"`
}

// DeepCopy returns a copy that shares nothing with u; nil if u is nil.
func (u *UnconventionalListType) DeepCopy() *UnconventionalListType {
	if u == nil {
		return nil
	}
	c := *u
	u.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// DeepCopyObject implements runtime.Object.
func (u *UnconventionalListType) DeepCopyObject() runtime.Object {
	if u == nil {
		return nil
	}
	return u.DeepCopy()
}

// UnconventionalListTypeList is a list of pointers, where lists commonly have values.
type UnconventionalListTypeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []*UnconventionalListType `json:"items"`
}

// DeepCopy returns a copy that shares nothing with u; nil if u is nil.
func (u *UnconventionalListTypeList) DeepCopy() *UnconventionalListTypeList {
	if u == nil {
		return nil
	}
	c := *u
	u.ListMeta.DeepCopyInto(&c.ListMeta)
	if u.Items != nil {
		c.Items = make([]*UnconventionalListType, len(u.Items))
		for i, item := range u.Items {
			c.Items[i] = item.DeepCopy()
		}
	}
	return &c
}

// DeepCopyObject implements runtime.Object.
func (u *UnconventionalListTypeList) DeepCopyObject() runtime.Object {
	if u == nil {
		return nil
	}
	return u.DeepCopy()
}
