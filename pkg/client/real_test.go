package client_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	appsac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/operon-dev/operon/pkg/client"
)

// sample is one kind of object: how it begins, and its patch and status.
type sample struct {
	typed  client.Object
	list   client.ObjectList
	gvk    schema.GroupVersionKind
	status map[string]any // nil if the kind has none
}

func samples() []sample {
	one := int32(1)
	meta := metav1.ObjectMeta{Labels: map[string]string{"app": "walk"}}
	return []sample{
		{
			typed: &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"a": "1"}},
			list:  &corev1.ConfigMapList{},
			gvk:   corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		},
		{
			typed: &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
				Replicas: &one,
				Paused:   true,
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "walk"}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "walk"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
				},
			}},
			list:   &appsv1.DeploymentList{},
			gvk:    appsv1.SchemeGroupVersion.WithKind("Deployment"),
			status: map[string]any{"collisionCount": int64(7)},
		},
		{
			typed:  &Widget{ObjectMeta: meta, Spec: WidgetSpec{Size: 1, Parts: map[string]string{"a": "1"}}},
			list:   &WidgetList{},
			gvk:    widgetKind,
			status: map[string]any{"ready": int64(7)},
		},
	}
}

// controlled tells whether a controller of the control plane writes obj too.
func controlled(obj client.Object) bool {
	_, typed := obj.(*appsv1.Deployment)
	return typed || obj.GetObjectKind().GroupVersionKind().Kind == "Deployment"
}

// content returns an object of any form as its fields.
func content(t *testing.T, obj runtime.Object) map[string]any {
	t.Helper()
	data, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func unstructuredOf(t *testing.T, obj client.Object, gvk schema.GroupVersionKind) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	delete(fields, "status")
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(gvk)
	return u
}

func newNamespace(t *testing.T, c client.Client) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "walk-"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// mustReadSame reads obj's key afresh and wants what obj holds, unless somebody else has written in between.
func mustReadSame(t *testing.T, c client.Reader, obj client.Object) {
	t.Helper()
	fresh := obj.DeepCopyObject().(client.Object)
	fresh.SetLabels(map[string]string{"not": "from the server"})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), fresh); err != nil {
		t.Fatal(err)
	}
	if controlled(fresh) && fresh.GetResourceVersion() != obj.GetResourceVersion() {
		return
	}
	if diff := cmp.Diff(content(t, fresh), content(t, obj)); diff != "" {
		t.Errorf("%T is not as the server has it (-server +object):\n%s", obj, diff)
	}
}

func TestEveryFormGoesThroughEveryVerb(t *testing.T) {
	config := realServer(t)
	for _, protobuf := range []string{"", runtime.ContentTypeJSON} {
		config.ContentType = protobuf
		seen := &observer{}
		c, err := client.New(config, client.Options{Scheme: newScheme(), FieldOwner: "walk", Cache: &client.CacheOptions{
			Reader: seen, DisableFor: []client.Object{&corev1.ConfigMap{}, &appsv1.Deployment{}, &Widget{}, &corev1.Namespace{}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samples() {
			name := s.gvk.Kind + " typed"
			if protobuf != "" {
				name += " as JSON"
			}
			t.Run(name, func(t *testing.T) {
				walk(t, c, seen, s, s.typed.DeepCopyObject().(client.Object), s.list)
			})
			if protobuf != "" {
				continue
			}
			t.Run(s.gvk.Kind+" unstructured", func(t *testing.T) {
				list := &unstructured.UnstructuredList{}
				list.SetGroupVersionKind(s.gvk.GroupVersion().WithKind(s.gvk.Kind + "List"))
				walk(t, c, seen, s, unstructuredOf(t, s.typed, s.gvk), list)
			})
			t.Run(s.gvk.Kind+" metadata", func(t *testing.T) {
				walkMetadata(t, c, seen, s)
			})
		}
	}
}

func walk(t *testing.T, c client.Client, seen *observer, s sample, obj client.Object, list client.ObjectList) {
	ctx := t.Context()
	ns := newNamespace(t, c)
	obj.SetNamespace(ns)
	obj.SetName("w")
	seen.take()

	must(t, "create", c.Create(ctx, obj))
	if obj.GetUID() == "" || obj.GetResourceVersion() == "" {
		t.Errorf("after create the object has no uid or no resourceVersion")
	}
	kind := s.gvk
	if formIsTyped(obj) {
		kind = schema.GroupVersionKind{}
	}
	if got := obj.GetObjectKind().GroupVersionKind(); got != kind {
		t.Errorf("after create the object says it is a %s, want %s", got, kind)
	}
	seen.mustHaveWritten(t, s.gvk, obj)
	mustReadSame(t, c, obj)
	if err := c.Create(ctx, again(obj)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("second create: %v, want AlreadyExists", err)
	}

	old := obj.DeepCopyObject().(client.Object)
	current(t, c, "update", obj, func() error {
		obj.SetLabels(map[string]string{"app": "walk", "updated": "yes"})
		return c.Update(ctx, obj)
	})
	seen.mustHaveWritten(t, s.gvk, obj)
	mustReadSame(t, c, obj)
	old.SetLabels(map[string]string{"late": "yes"})
	if err := c.Update(ctx, old); !apierrors.IsConflict(err) {
		t.Errorf("update of an old version: %v, want Conflict", err)
	}
	if old.GetLabels()["late"] != "yes" {
		t.Errorf("a failed update changed the object")
	}

	base := obj.DeepCopyObject().(client.Object)
	obj.SetLabels(map[string]string{"app": "walk", "merged": "yes"})
	must(t, "merge patch", c.Patch(ctx, obj, client.MergeFrom(base)))
	seen.mustHaveWritten(t, s.gvk, obj)
	mustReadSame(t, c, obj)
	if diff := cmp.Diff(map[string]string{"app": "walk", "merged": "yes"}, obj.GetLabels()); diff != "" {
		t.Error(diff)
	}
	must(t, "JSON patch", c.Patch(ctx, obj, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/metadata/labels/json","value":"yes"}]`))))
	seen.mustHaveWritten(t, s.gvk, obj)
	err := c.Patch(ctx, obj, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	if !apierrors.IsConflict(err) {
		t.Errorf("merge patch with a lock on an old version: %v, want Conflict", err)
	}
	base = obj.DeepCopyObject().(client.Object)
	obj.SetLabels(map[string]string{"app": "walk", "strategic": "yes"})
	if s.gvk == widgetKind && formIsTyped(obj) {
		if err := c.Patch(ctx, obj, client.StrategicMergeFrom(base)); !apierrors.IsUnsupportedMediaType(err) {
			t.Errorf("strategic merge patch of a custom resource: %v, want UnsupportedMediaType", err)
		}
	} else if formIsTyped(obj) {
		must(t, "strategic merge patch", c.Patch(ctx, obj, client.StrategicMergeFrom(base)))
		seen.mustHaveWritten(t, s.gvk, obj)
		mustReadSame(t, c, obj)
	}
	obj.SetLabels(nil)
	obj.SetManagedFields(nil)
	obj.SetResourceVersion("")
	obj.SetAnnotations(map[string]string{"applied": "patch"})
	obj.GetObjectKind().SetGroupVersionKind(s.gvk)
	must(t, "apply patch", c.Patch(ctx, obj, client.Apply, client.ForceOwnership, client.FieldOwner("applier")))
	seen.mustHaveWritten(t, s.gvk, obj)
	if got := obj.GetObjectKind().GroupVersionKind(); got != s.gvk {
		t.Errorf("the patch made the object say it is a %s", got)
	}
	obj.GetObjectKind().SetGroupVersionKind(kind)
	mustReadSame(t, c, obj)

	if s.status != nil {
		status, err := json.Marshal(map[string]any{"status": s.status})
		if err != nil {
			t.Fatal(err)
		}
		must(t, "status patch", c.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, status)))
		seen.mustHaveWritten(t, s.gvk, obj)
		mustReadSame(t, c, obj)
		current(t, c, "status update", obj, func() error { return c.Status().Update(ctx, obj) })
		seen.mustHaveWritten(t, s.gvk, obj)
		if got := fmt.Sprint(content(t, obj)["status"]); !strings.Contains(got, "7") {
			t.Errorf("status is %s, want a 7 in it", got)
		}

		scale := &autoscalingv1.Scale{}
		must(t, "get scale", c.SubResource("scale").Get(ctx, obj, scale))
		if scale.Spec.Replicas != 1 || scale.Name != "w" {
			t.Errorf("scale is %+v", scale)
		}
		body := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
		must(t, "update scale", c.SubResource("scale").Update(ctx, obj, client.WithSubResourceBody(body)))
		if body.Spec.Replicas != 3 || body.UID != obj.GetUID() {
			t.Errorf("scale is %+v", body)
		}
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":4}}`))
		must(t, "patch scale", c.SubResource("scale").Patch(ctx, obj, patch, client.WithSubResourceBody(scale)))
		if scale.Spec.Replicas != 4 {
			t.Errorf("scale is %+v", scale)
		}
		seen.mustHaveNothing(t)
		must(t, "get", c.Get(ctx, client.ObjectKeyFromObject(obj), obj))
	}

	current(t, c, "dry-run update", obj, func() error { return c.Update(ctx, obj, client.DryRunAll) })
	must(t, "dry-run delete", c.Delete(ctx, obj, client.DryRunAll))
	current(t, c, "unobserved update", obj, func() error { return c.Update(ctx, obj, client.DisableReadYourWritesConsistency) })
	seen.mustHaveNothing(t)

	must(t, "list", c.List(ctx, list, client.InNamespace(ns), client.MatchingFields{"metadata.name": "w"}))
	items, err := meta.ExtractList(list)
	if err != nil || len(items) != 1 {
		t.Fatalf("listed %d items (%v), want 1", len(items), err)
	}
	if got := items[0].(client.Object); got.GetUID() != obj.GetUID() {
		t.Errorf("listed %s", got.GetName())
	}
	must(t, "list", c.List(ctx, list, client.InNamespace(ns), client.MatchingLabelsSelector{Selector: labels.Nothing()}))
	if n := meta.LenList(list); n != 0 {
		t.Errorf("a selector of nothing listed %d objects", n)
	}

	current(t, c, "update", obj, func() error {
		obj.SetFinalizers([]string{"example.com/hold"})
		return c.Update(ctx, obj)
	})
	seen.take()
	wrong := types.UID("someone-else")
	if err := c.Delete(ctx, obj, client.Preconditions{UID: &wrong}); !apierrors.IsConflict(err) {
		t.Errorf("delete of another uid: %v, want Conflict", err)
	}
	must(t, "delete with a finalizer", c.Delete(ctx, obj))
	w := seen.one(t)
	if w.write == nil || w.write.Object.GetDeletionTimestamp() == nil || w.write.JSON == nil {
		t.Errorf("a held deletion was told as %+v", w)
	}
	must(t, "get", c.Get(ctx, client.ObjectKeyFromObject(obj), obj))
	current(t, c, "last update", obj, func() error {
		obj.SetFinalizers(nil)
		return c.Update(ctx, obj)
	})
	seen.mustHaveWritten(t, s.gvk, obj)
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj); !apierrors.IsNotFound(err) {
		t.Errorf("get of a deleted object: %v, want NotFound", err)
	}

	again := again(obj)
	again.SetName("w2")
	again.SetDeletionTimestamp(nil)
	again.SetDeletionGracePeriodSeconds(nil)
	must(t, "create", c.Create(ctx, again))
	seen.take()
	must(t, "delete", c.Delete(ctx, again))
	seen.mustHaveDeleted(t, s.gvk, again)

	held, free := again.DeepCopyObject().(client.Object), again.DeepCopyObject().(client.Object)
	for _, o := range []client.Object{held, free} {
		o.SetResourceVersion("")
		o.SetUID("")
		o.SetLabels(map[string]string{"batch": "yes"})
	}
	held.SetName("held")
	held.SetFinalizers([]string{"example.com/hold"})
	free.SetName("free")
	must(t, "create", c.Create(ctx, held))
	must(t, "create", c.Create(ctx, free))
	seen.take()
	must(t, "delete all of nothing", c.DeleteAllOf(ctx, obj, client.InNamespace(ns), client.MatchingLabelsSelector{}))
	seen.mustHaveNothing(t)
	must(t, "delete all", c.DeleteAllOf(ctx, obj, client.InNamespace(ns), client.MatchingLabels{"batch": "yes"}))
	seen.mustHaveDeletedAll(t, s.gvk, held, free)
	must(t, "release", c.Patch(ctx, held, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
	seen.take()
}

func walkMetadata(t *testing.T, c client.Client, seen *observer, s sample) {
	ctx := t.Context()
	ns := newNamespace(t, c)
	typed := s.typed.DeepCopyObject().(client.Object)
	typed.SetNamespace(ns)
	typed.SetName("w")
	must(t, "create", c.Create(ctx, typed))
	seen.take()

	obj := &metav1.PartialObjectMetadata{}
	obj.SetGroupVersionKind(s.gvk)
	live, err := client.New(realServer(t), client.Options{Scheme: newScheme()})
	if err != nil {
		t.Fatal(err)
	}
	must(t, "get", live.Get(ctx, client.ObjectKeyFromObject(typed), obj))
	if obj.UID != typed.GetUID() || obj.GroupVersionKind() != s.gvk {
		t.Errorf("got %+v", obj)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(s.gvk.GroupVersion().WithKind(s.gvk.Kind + "List"))
	must(t, "list", live.List(ctx, list, client.InNamespace(ns), client.MatchingLabels{"app": "walk"}))
	if len(list.Items) != 1 || list.Items[0].UID != typed.GetUID() || list.Items[0].GroupVersionKind() != s.gvk {
		t.Errorf("listed %+v", list.Items)
	}
	if list.Kind != s.gvk.Kind+"List" {
		t.Errorf("the list says it is a %s", list.Kind)
	}
	if err := live.Create(ctx, obj); err == nil || !strings.Contains(err.Error(), s.gvk.Kind+" "+ns+"/w") {
		t.Errorf("create of metadata: %v, want an error that names it", err)
	}
	if err := live.Update(ctx, obj); err == nil || !strings.Contains(err.Error(), "patch") {
		t.Errorf("update of metadata: %v, want an error that names the way out", err)
	}

	for _, whole := range []bool{false, true} {
		seen.wholeJSON = whole
		base := obj.DeepCopy()
		obj.Labels = map[string]string{"app": "walk", "merged": fmt.Sprint(whole)}
		must(t, "merge patch", c.Patch(ctx, obj, client.MergeFrom(base)))
		if obj.GroupVersionKind() != s.gvk || obj.Labels["merged"] != fmt.Sprint(whole) {
			t.Errorf("patched to %+v", obj)
		}
		w := seen.one(t)
		if w.write == nil || w.write.GVK != s.gvk {
			t.Fatalf("told %+v", w)
		}
		if got := w.write.JSON != nil; got != whole {
			t.Errorf("the observer got JSON: %v, want %v", got, whole)
		}
		if whole {
			var full map[string]any
			if err := json.Unmarshal(w.write.JSON, &full); err != nil || full["kind"] != s.gvk.Kind || full["spec"] == nil && full["data"] == nil {
				t.Errorf("the JSON is not the whole object: %s", w.write.JSON)
			}
		}
		mustReadSame(t, live, obj)
	}
	seen.wholeJSON = false
	if s.status != nil {
		status, err := json.Marshal(map[string]any{"status": s.status})
		if err != nil {
			t.Fatal(err)
		}
		must(t, "status patch", c.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, status)))
		seen.take()
	}
	must(t, "delete", c.Delete(ctx, obj))
	seen.mustHaveDeleted(t, s.gvk, obj)

	second := again(typed)
	second.SetFinalizers([]string{"example.com/hold"})
	must(t, "create", c.Create(ctx, second))
	seen.take()
	must(t, "delete all", c.DeleteAllOf(ctx, obj, client.InNamespace(ns), client.HasLabels{"app"}))
	w := seen.one(t)
	if w.write == nil || w.write.Object.GetDeletionTimestamp() == nil {
		t.Errorf("told %+v", w)
	}
	must(t, "release", c.Patch(ctx, second, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
	seen.take()
}

func TestApplyConfigurations(t *testing.T) {
	config := realServer(t)
	seen := &observer{}
	c, err := client.New(config, client.Options{Scheme: newScheme(), FieldOwner: "walk", Cache: &client.CacheOptions{Reader: seen,
		DisableFor: []client.Object{&corev1.ConfigMap{}, &appsv1.Deployment{}, &Widget{}}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	ns := newNamespace(t, c)
	seen.take()

	cm := corev1ac.ConfigMap("c", ns).WithData(map[string]string{"a": "1", "b": "2"})
	must(t, "apply", c.Apply(ctx, cm))
	if cm.UID == nil || *cm.UID == "" {
		t.Errorf("after apply the configuration has no uid")
	}
	if w := seen.one(t); w.write == nil || w.write.Object != nil || w.write.GVK.Kind != "ConfigMap" || len(w.write.JSON) == 0 {
		t.Errorf("told %+v", w)
	}
	must(t, "apply", c.Apply(ctx, corev1ac.ConfigMap("c", ns).WithData(map[string]string{"a": "1"})))
	var got corev1.ConfigMap
	must(t, "get", c.Get(ctx, types.NamespacedName{Namespace: ns, Name: "c"}, &got))
	if diff := cmp.Diff(map[string]string{"a": "1"}, got.Data); diff != "" {
		t.Errorf("the field no longer applied is still there:\n%s", diff)
	}
	err = c.Apply(ctx, corev1ac.ConfigMap("c", ns).WithData(map[string]string{"a": "2"}), client.FieldOwner("other"))
	if !apierrors.IsConflict(err) {
		t.Errorf("apply of another's field: %v, want Conflict", err)
	}
	must(t, "forced apply", c.Apply(ctx, corev1ac.ConfigMap("c", ns).WithData(map[string]string{"a": "2"}), client.FieldOwner("other"), client.ForceOwnership))
	seen.take()
	must(t, "dry-run apply", c.Apply(ctx, corev1ac.ConfigMap("d", ns), client.DryRunAll))
	seen.mustHaveNothing(t)

	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(2)}}}
	u.SetGroupVersionKind(widgetKind)
	u.SetNamespace(ns)
	u.SetName("u")
	must(t, "apply unstructured", c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u)))
	if u.GetUID() == "" || u.GroupVersionKind() != widgetKind {
		t.Errorf("after apply the object is %v", u.Object)
	}
	seen.take()
	status := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"ready": int64(2)}}}
	status.SetGroupVersionKind(widgetKind)
	status.SetNamespace(ns)
	status.SetName("u")
	must(t, "apply status", c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(status)))
	if w := seen.one(t); w.write == nil || w.write.GVK != widgetKind {
		t.Errorf("told %+v", w)
	}
	var widget Widget
	must(t, "get", c.Get(ctx, types.NamespacedName{Namespace: ns, Name: "u"}, &widget))
	if widget.Status.Ready != 2 || widget.Spec.Size != 2 {
		t.Errorf("got %+v", widget)
	}
	must(t, "apply deployment status", c.Apply(ctx, appsac.Deployment("d", ns).WithSpec(appsac.DeploymentSpec().WithPaused(true).
		WithSelector(selectorAC()).WithTemplate(corev1ac.PodTemplateSpec().WithLabels(map[string]string{"a": "b"}).
		WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().WithName("c").WithImage("i")))))))
	must(t, "apply deployment status", c.SubResource("status").Apply(ctx, appsac.Deployment("d", ns).
		WithStatus(appsac.DeploymentStatus().WithCollisionCount(3))))
}

func TestSubresourcesThatAnswerWithAStatus(t *testing.T) {
	c, err := client.New(realServer(t), client.Options{Scheme: newScheme()})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	ns := newNamespace(t, c)
	must(t, "create service account", client.IgnoreAlreadyExists(c.Create(ctx,
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "default"}})))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "p"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	must(t, "create pod", c.Create(ctx, pod))
	must(t, "evict", c.SubResource("eviction").Create(ctx, pod, &policyv1.Eviction{}))
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); !apierrors.IsNotFound(err) && pod.DeletionTimestamp == nil {
		t.Errorf("after the eviction: %v, %v", err, pod.DeletionTimestamp)
	}
}

func TestWatchDeliversObjectsInTheFormOfTheList(t *testing.T) {
	c, err := client.NewWithWatch(realServer(t), client.Options{Scheme: newScheme()})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples() {
		unstructuredList := &unstructured.UnstructuredList{}
		unstructuredList.SetGroupVersionKind(s.gvk)
		metadataList := &metav1.PartialObjectMetadataList{}
		metadataList.SetGroupVersionKind(s.gvk)
		for _, list := range []client.ObjectList{s.list, unstructuredList, metadataList} {
			t.Run(fmt.Sprintf("%s as %T", s.gvk.Kind, list), func(t *testing.T) {
				ns := newNamespace(t, c)
				w, err := c.Watch(t.Context(), list, client.InNamespace(ns), client.MatchingLabels{"app": "walk"})
				if err != nil {
					t.Fatal(err)
				}
				defer w.Stop()
				obj := again(s.typed)
				obj.SetNamespace(ns)
				obj.SetName("w")
				must(t, "create", c.Create(t.Context(), obj))
				event := <-w.ResultChan()
				got, ok := event.Object.(client.Object)
				if event.Type != watch.Added || !ok || got.GetUID() != obj.GetUID() {
					t.Fatalf("watched %s %v", event.Type, event.Object)
				}
				want := map[bool]string{
					list == s.list: fmt.Sprintf("%T", s.typed), list == client.ObjectList(unstructuredList): "*unstructured.Unstructured",
					list == client.ObjectList(metadataList): "*v1.PartialObjectMetadata",
				}[true]
				if typ := fmt.Sprintf("%T", got); typ != want {
					t.Errorf("watched a %s, want a %s", typ, want)
				}
				if got.GetObjectKind().GroupVersionKind() != s.gvk && list != s.list {
					t.Errorf("the object says it is a %s", got.GetObjectKind().GroupVersionKind())
				}
			})
		}
	}
}

func TestKindsThatArriveLateAreFound(t *testing.T) {
	config := realServer(t)
	c, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		t.Fatal(err)
	}
	// The server is there for all runs, so every run has a kind of its own.
	kind := "Gadget" + strings.ToLower(rand.Text())
	late := &unstructured.Unstructured{}
	late.SetGroupVersionKind(widgetVersion.WithKind(kind))
	late.SetNamespace("default")
	late.SetName("g")
	if err := c.Create(t.Context(), late); !meta.IsNoMatchError(err) {
		t.Fatalf("create of a kind that is not there: %v, want no match", err)
	}
	installCRD(t, config, widgetCRD(strings.ToLower(kind)+"s", kind))
	must(t, "create", c.Create(t.Context(), late))
}
