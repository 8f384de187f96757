package controllerutil_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/operon-dev/operon/pkg/controller/controllerutil"
)

func deployment(namespace, name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "u-1"}}
}

func pod(refs ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "p", OwnerReferences: refs}}
}

func ref(apiVersion, kind, name string, change ...func(*metav1.OwnerReference)) metav1.OwnerReference {
	r := metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: "u-1"}
	for _, c := range change {
		c(&r)
	}
	return r
}

func controlling(r *metav1.OwnerReference) {
	yes, block := true, true
	r.Controller, r.BlockOwnerDeletion = &yes, &block
}

func notBlocking(r *metav1.OwnerReference) {
	no := false
	r.BlockOwnerDeletion = &no
}

func older(r *metav1.OwnerReference) { r.UID = "u-0" }

func TestOwnerReferencesAreSet(t *testing.T) {
	owner := deployment("n", "d")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", UID: "u-1"}}
	other := ref("v1", "Service", "s")
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("example.com/v1")
	u.SetKind("Widget")
	u.SetName("w")
	u.SetNamespace("n")
	u.SetUID("u-1")
	set := controllerutil.SetOwnerReference
	control := controllerutil.SetControllerReference
	for name, test := range map[string]struct {
		set   func(owner, object metav1.Object, scheme *runtime.Scheme, opts ...controllerutil.OwnerReferenceOption) error
		owner metav1.Object
		on    *corev1.Pod
		opts  []controllerutil.OwnerReferenceOption
		want  []metav1.OwnerReference
	}{
		"owner": {set, owner, pod(), nil, []metav1.OwnerReference{ref("apps/v1", "Deployment", "d")}},
		"owner beside others": {set, owner, pod(other), nil,
			[]metav1.OwnerReference{other, ref("apps/v1", "Deployment", "d")}},
		"owner made again": {set, owner, pod(ref("apps/v1", "Deployment", "d", older), other), nil,
			[]metav1.OwnerReference{ref("apps/v1", "Deployment", "d"), other}},
		"owner of another version": {set, owner, pod(ref("apps/v1beta1", "Deployment", "d")), nil,
			[]metav1.OwnerReference{ref("apps/v1", "Deployment", "d")}},
		"owner of another group": {set, owner, pod(ref("extensions/v1", "Deployment", "d")), nil,
			[]metav1.OwnerReference{ref("extensions/v1", "Deployment", "d"), ref("apps/v1", "Deployment", "d")}},
		"owner with an option": {set, owner, pod(), []controllerutil.OwnerReferenceOption{controllerutil.WithBlockOwnerDeletion(false)},
			[]metav1.OwnerReference{ref("apps/v1", "Deployment", "d", notBlocking)}},
		"cluster-scoped owner": {set, node, pod(), nil, []metav1.OwnerReference{ref("v1", "Node", "node")}},
		"unstructured owner":   {set, u, pod(), nil, []metav1.OwnerReference{ref("example.com/v1", "Widget", "w")}},
		"controller":           {control, owner, pod(), nil, []metav1.OwnerReference{ref("apps/v1", "Deployment", "d", controlling)}},
		"controller that was an owner": {control, owner, pod(ref("apps/v1", "Deployment", "d")), nil,
			[]metav1.OwnerReference{ref("apps/v1", "Deployment", "d", controlling)}},
		"controller that it has": {control, owner, pod(ref("apps/v1", "Deployment", "d", controlling, older)), nil,
			[]metav1.OwnerReference{ref("apps/v1", "Deployment", "d", controlling)}},
		"controller with an option": {control, owner, pod(), []controllerutil.OwnerReferenceOption{controllerutil.WithBlockOwnerDeletion(false)},
			[]metav1.OwnerReference{ref("apps/v1", "Deployment", "d", controlling, notBlocking)}},
	} {
		if err := test.set(test.owner, test.on, scheme.Scheme, test.opts...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, test.on.OwnerReferences); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestOwnersThatCannotBe(t *testing.T) {
	p := pod(ref("apps/v1", "Deployment", "d", controlling))
	before := p.DeepCopy()
	err := controllerutil.SetControllerReference(deployment("n", "other"), p, scheme.Scheme)
	var owned *controllerutil.AlreadyOwnedError
	if !errors.As(err, &owned) || owned.Object != p || owned.Owner.Name != "d" {
		t.Errorf("a second controller: %v", err)
	}
	if err := controllerutil.SetControllerReference(deployment("elsewhere", "d"), p, scheme.Scheme); err == nil {
		t.Error("a controller in another namespace")
	}
	if err := controllerutil.SetOwnerReference(deployment("n", "d"), &corev1.Node{}, scheme.Scheme); err == nil {
		t.Error("a namespaced owner of a cluster-scoped object")
	}
	if err := controllerutil.SetOwnerReference(deployment("n", "d"), p, runtime.NewScheme()); !runtime.IsNotRegisteredError(err) {
		t.Errorf("an owner that the scheme does not know: %v", err)
	}
	if err := controllerutil.SetOwnerReference(&metav1.ObjectMeta{Namespace: "n"}, p, scheme.Scheme); err == nil {
		t.Error("an owner without a kind")
	}
	if diff := cmp.Diff(before, p); diff != "" {
		t.Errorf("an error changed the object:\n%s", diff)
	}
}

func TestOwnerReferencesAreRemoved(t *testing.T) {
	owner, other := deployment("n", "d"), ref("v1", "Service", "s")
	shared := []metav1.OwnerReference{ref("apps/v1", "Deployment", "d", controlling), other}
	p := pod(shared...)
	if !controllerutil.HasControllerReference(p) {
		t.Error("the controller is not seen")
	}
	if has, err := controllerutil.HasOwnerReference(p.OwnerReferences, owner, scheme.Scheme); err != nil || !has {
		t.Errorf("has the owner: %v, %v", has, err)
	}
	if err := controllerutil.RemoveControllerReference(deployment("n", "x"), p, scheme.Scheme); err == nil {
		t.Error("removed somebody else's controller reference")
	}
	if err := controllerutil.RemoveControllerReference(owner, p, scheme.Scheme); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]metav1.OwnerReference{other}, p.OwnerReferences); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if shared[0].Name != "d" || shared[1].Name != "s" {
		t.Error("the slice that the object had before was changed")
	}
	if controllerutil.HasControllerReference(p) {
		t.Error("the controller is still seen")
	}
	if err := controllerutil.RemoveControllerReference(owner, p, scheme.Scheme); err == nil {
		t.Error("removed a controller reference that is not there")
	}
	if err := controllerutil.RemoveOwnerReference(owner, p, scheme.Scheme); err == nil {
		t.Error("removed an owner reference that is not there")
	}
	if has, err := controllerutil.HasOwnerReference(p.OwnerReferences, owner, scheme.Scheme); err != nil || has {
		t.Errorf("has the owner: %v, %v", has, err)
	}
}

func TestFinalizers(t *testing.T) {
	p := pod()
	shared := make([]string, 1, 4)
	shared[0] = "a"
	p.Finalizers = shared
	if !controllerutil.AddFinalizer(p, "b") || !cmp.Equal(p.Finalizers, []string{"a", "b"}) {
		t.Errorf("added: %v", p.Finalizers)
	}
	if controllerutil.AddFinalizer(p, "b") || len(p.Finalizers) != 2 {
		t.Errorf("added twice: %v", p.Finalizers)
	}
	if !controllerutil.ContainsFinalizer(p, "a") || controllerutil.ContainsFinalizer(p, "c") {
		t.Errorf("contains: %v", p.Finalizers)
	}
	if !controllerutil.RemoveFinalizer(p, "a") || !cmp.Equal(p.Finalizers, []string{"b"}) {
		t.Errorf("removed: %v", p.Finalizers)
	}
	if controllerutil.RemoveFinalizer(p, "a") {
		t.Error("removed twice")
	}
	if shared[0] != "a" || shared[:2][1] != "" {
		t.Errorf("the slice that the object had before was changed: %v", shared[:2])
	}
}
