package controllertest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/operon-dev/operon/pkg/client/apiutil"
	"github.com/operon-dev/operon/pkg/controller/controllertest"
)

func TestErrorTypeHasNoKind(t *testing.T) {
	obj := controllertest.ErrorType{}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	for _, o := range []any{obj, obj.DeepCopyObject()} {
		if gvk, err := apiutil.GVKForObject(o.(controllertest.ErrorType), clientgoscheme.Scheme); err == nil {
			t.Errorf("no error, but %v", gvk)
		}
	}
}

func TestCopiesOfUnconventionalListsShareNothing(t *testing.T) {
	list := func() *controllertest.UnconventionalListTypeList {
		return &controllertest.UnconventionalListTypeList{
			TypeMeta: metav1.TypeMeta{Kind: "UnconventionalListTypeList"},
			ListMeta: metav1.ListMeta{ResourceVersion: "7", RemainingItemCount: new(int64)},
			Items: []*controllertest.UnconventionalListType{
				{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"k": "v"}}, Spec: "s"},
				nil,
			},
		}
	}
	original := list()
	c := original.DeepCopyObject().(*controllertest.UnconventionalListTypeList)
	if diff := cmp.Diff(original, c); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
	c.Items[0].Labels["k"] = "changed"
	c.Items[0].Spec = "changed"
	c.Items[1] = c.Items[0]
	*c.RemainingItemCount = 5
	if diff := cmp.Diff(list(), original); diff != "" {
		t.Errorf("the original changed with its copy (-want +got):\n%s", diff)
	}

	item := list().Items[0]
	if diff := cmp.Diff(item, item.DeepCopyObject()); diff != "" {
		t.Errorf("copy of the item (-want +got):\n%s", diff)
	}
	if (*controllertest.UnconventionalListType)(nil).DeepCopyObject() != nil || (*controllertest.UnconventionalListTypeList)(nil).DeepCopyObject() != nil {
		t.Error("the copy of nil is something")
	}
}
