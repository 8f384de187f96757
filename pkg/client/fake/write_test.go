package fake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
)

func TestCreateAssignsIdentity(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(newScheme()).Build()
	w := widget("a")
	w.APIVersion, w.Kind = "example.com/v1", "Widget"
	must(t, c.Create(t.Context(), w))
	if w.UID == "" || w.CreationTimestamp.IsZero() || w.Generation != 1 || w.ResourceVersion != "1" || w.Kind != "" {
		t.Errorf("created %+v", w)
	}
	if diff := cmp.Diff(w, get(t, c, widget("a"))); diff != "" {
		t.Errorf("what is read is not what create answered (-answered +read):\n%s", diff)
	}
	brought := widget("b")
	brought.UID, brought.Generation = "mine", 7
	must(t, c.Create(t.Context(), brought))
	if brought.UID != "mine" || brought.Generation != 7 {
		t.Errorf("uid and generation that a test brings along are kept, got %s and %d", brought.UID, brought.Generation)
	}
}

func TestCreateRefuses(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(configMap("taken", nil)).Build()
	versioned := configMap("a", nil)
	versioned.ResourceVersion = "1"
	for name, test := range map[string]struct {
		obj  client.Object
		want metav1.StatusReason
	}{
		"a name that is taken":          {configMap("taken", nil), metav1.StatusReasonAlreadyExists},
		"an object with a version":      {versioned, metav1.StatusReasonBadRequest},
		"an object without a name":      {configMap("", nil), metav1.StatusReasonInvalid},
		"metadata instead of an object": {metadataOf(configMapKind, "m"), metav1.StatusReasonUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.obj.DeepCopyObject()
			wantReason(t, c.Create(t.Context(), test.obj), test.want)
			if diff := cmp.Diff(before, test.obj); diff != "" {
				t.Errorf("the object changed though create failed:\n%s", diff)
			}
		})
	}
}

func TestCreateGeneratesNames(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	names := map[string]bool{}
	for range 10 {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", GenerateName: "some-"}}
		must(t, c.Create(t.Context(), cm))
		names[cm.Name] = true
	}
	if len(names) != 10 {
		t.Errorf("ten objects got the names %v", names)
	}
}

func TestDryRunsStoreNothing(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(configMap("a", nil)).Build()
	must(t, c.Create(t.Context(), configMap("new", nil), client.DryRunAll))
	cm := configMap("a", map[string]string{"x": "y"})
	must(t, c.Update(t.Context(), cm, client.DryRunAll))
	must(t, c.Patch(t.Context(), configMap("a", nil), merge(`{"data":{"x":"y"}}`), client.DryRunAll))
	must(t, c.Delete(t.Context(), configMap("a", nil), client.DryRunAll))
	must(t, c.DeleteAllOf(t.Context(), configMap("", nil), client.InNamespace("ns"), client.DryRunAll))
	var list corev1.ConfigMapList
	must(t, c.List(t.Context(), &list))
	if len(list.Items) != 1 || list.Items[0].ResourceVersion != "999" {
		t.Errorf("dry runs left %+v", list.Items)
	}
}

func TestUpdateIsOptimistic(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(configMap("a", nil), widget("w")).Build()
	cm := get(t, c, configMap("a", nil))
	cm.Data = map[string]string{"x": "1"}
	must(t, c.Update(t.Context(), cm))
	if cm.ResourceVersion != "1000" {
		t.Errorf("resourceVersion %s after the first update, want 1000", cm.ResourceVersion)
	}
	must(t, c.Update(t.Context(), cm))
	if cm.ResourceVersion != "1000" {
		t.Errorf("an update that changes nothing moved the resourceVersion to %s", cm.ResourceVersion)
	}
	cm.ResourceVersion = "999"
	wantReason(t, c.Update(t.Context(), cm), metav1.StatusReasonConflict)
	cm.ResourceVersion, cm.Data = "", map[string]string{"x": "2"}
	must(t, c.Update(t.Context(), cm))
	wantReason(t, c.Update(t.Context(), widget("w")), metav1.StatusReasonInvalid)
}

func TestUpdateCreatesWhatServersCreate(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	wantReason(t, c.Update(t.Context(), configMap("a", nil)), metav1.StatusReasonNotFound)
	must(t, c.Update(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "l"}}))
	get(t, c, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "l"}})
}

func TestGenerationCountsWhatIsWanted(t *testing.T) {
	given := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "given"}}
	c := fake.NewClientBuilder().WithObjects(given).Build()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "d"}}
	must(t, c.Create(t.Context(), d))
	step := func(what string, want int64, change func()) {
		t.Helper()
		change()
		must(t, c.Update(t.Context(), d))
		if d.Generation != want {
			t.Errorf("generation %d after a change of %s, want %d", d.Generation, what, want)
		}
	}
	step("spec", 2, func() { d.Spec.Replicas = ptr.To[int32](3) })
	step("labels", 2, func() { d.Labels = map[string]string{"a": "b"} })
	step("annotations", 3, func() { d.Annotations = map[string]string{"a": "b"} })
	step("status", 3, func() { d.Status.Replicas = 3 })
	step("generation itself", 3, func() { d.Generation = 99 })

	given.Spec.Replicas = ptr.To[int32](3)
	must(t, c.Update(t.Context(), given))
	if given.Generation != 0 {
		t.Errorf("an object given without a generation has got generation %d", given.Generation)
	}
}

func TestFinalizersHoldWhatIsDeleted(t *testing.T) {
	p := pod("a")
	p.Finalizers = []string{"example.com/a"}
	c := fake.NewClientBuilder().WithObjects(p).Build()
	must(t, c.Delete(t.Context(), p))
	p = get(t, c, pod("a"))
	if p.DeletionTimestamp == nil || p.DeletionGracePeriodSeconds == nil || p.ResourceVersion != "1000" {
		t.Fatalf("held object: %+v", p.ObjectMeta)
	}
	must(t, c.Delete(t.Context(), p))
	if now := get(t, c, pod("a")); now.ResourceVersion != p.ResourceVersion {
		t.Errorf("a second delete moved the resourceVersion to %s", now.ResourceVersion)
	}
	more := p.DeepCopy()
	more.Finalizers = append(more.Finalizers, "example.com/late")
	wantReason(t, c.Update(t.Context(), more), metav1.StatusReasonInvalid)
	must(t, c.Patch(t.Context(), p, merge(`{"metadata":{"finalizers":null}}`)))
	wantReason(t, c.Get(t.Context(), client.ObjectKeyFromObject(p), p), metav1.StatusReasonNotFound)
}

func TestDeletionTimestampIsTheServers(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	then := metav1.NewTime(time.Unix(1000, 0))
	cm := configMap("a", nil)
	cm.DeletionTimestamp, cm.Finalizers = &then, []string{"example.com/a"}
	must(t, c.Create(t.Context(), cm))
	if cm.DeletionTimestamp != nil {
		t.Error("create took a deletionTimestamp from the caller")
	}
	cm.DeletionTimestamp = &then
	wantReason(t, c.Update(t.Context(), cm), metav1.StatusReasonInvalid)
	wantReason(t, c.Patch(t.Context(), configMap("a", nil), merge(`{"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"}}`)), metav1.StatusReasonInvalid)
	must(t, c.Delete(t.Context(), cm))
	cm = get(t, c, configMap("a", nil))
	cm.DeletionTimestamp = nil
	wantReason(t, c.Update(t.Context(), cm), metav1.StatusReasonInvalid)
}

func TestMetadataIsAllThatThereIsOfAKindThatNobodyKnows(t *testing.T) {
	odd := schema.GroupVersionKind{Group: "odd.example.com", Version: "v1", Kind: "Odd"}
	c := fake.NewClientBuilder().WithCRDs(gadgetCRD()).Build()
	m := metadataOf(odd, "m")
	must(t, c.Create(t.Context(), m))
	m.Labels = map[string]string{"a": "b"}
	must(t, c.Update(t.Context(), m))
	if got := get(t, c, metadataOf(odd, "m")); got.Labels["a"] != "b" || got.ResourceVersion != m.ResourceVersion {
		t.Errorf("read back: %+v", got)
	}
	for _, known := range []schema.GroupVersionKind{gadgetKind, configMapKind} {
		wantError(t, c.Create(t.Context(), metadataOf(known, "m")), "metadata is not the whole object")
	}
}

func TestOwnersOfFieldsHaveProperNames(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(configMap("a", nil)).Build()
	odd := client.FieldOwner("a\x00b")
	wantReason(t, c.Create(t.Context(), configMap("b", nil), odd), metav1.StatusReasonInvalid)
	wantReason(t, c.Update(t.Context(), configMap("a", nil), odd), metav1.StatusReasonInvalid)
	wantReason(t, c.Patch(t.Context(), configMap("a", nil), merge(`{}`), odd), metav1.StatusReasonInvalid)
	wantReason(t, c.Apply(t.Context(), corev1ac.ConfigMap("a", "ns"), client.FieldOwner(strings.Repeat("a", 129))), metav1.StatusReasonInvalid)
}

func TestAnEmptyListOfOwnersTakesAllAway(t *testing.T) {
	c := fake.NewClientBuilder().WithReturnManagedFields().Build()
	cm := configMap("a", map[string]string{"a": "b"})
	must(t, c.Create(t.Context(), cm, client.FieldOwner("me")))
	if len(cm.ManagedFields) == 0 {
		t.Fatal("nobody owns anything")
	}
	cm.ManagedFields = []metav1.ManagedFieldsEntry{}
	must(t, c.Update(t.Context(), cm, client.FieldOwner("me")))
	if got := get(t, c, configMap("a", nil)); len(got.ManagedFields) != 0 {
		t.Errorf("owners are left: %+v", got.ManagedFields)
	}
}

func TestDeletePreconditions(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(configMap("a", nil)).Build()
	wantReason(t, c.Delete(t.Context(), configMap("a", nil), client.Preconditions{ResourceVersion: ptr.To("1")}), metav1.StatusReasonConflict)
	wantReason(t, c.Delete(t.Context(), configMap("a", nil), client.Preconditions{UID: ptr.To[types.UID]("x")}), metav1.StatusReasonConflict)
	must(t, c.Delete(t.Context(), configMap("a", nil), client.Preconditions{ResourceVersion: ptr.To("999")}))
	wantReason(t, c.Delete(t.Context(), configMap("a", nil)), metav1.StatusReasonNotFound)
}

func TestDeleteAllOfDeletesWhatIsSelected(t *testing.T) {
	other := configMap("c", map[string]string{"x": "y"})
	other.Namespace = "elsewhere"
	c := fake.NewClientBuilder().WithObjects(configMap("a", map[string]string{"x": "y"}), configMap("b", nil), other).Build()
	must(t, c.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace("ns"), client.MatchingLabels{"x": "y"}))
	var list corev1.ConfigMapList
	must(t, c.List(t.Context(), &list))
	var left []string
	for _, cm := range list.Items {
		left = append(left, cm.Namespace+"/"+cm.Name)
	}
	if diff := cmp.Diff([]string{"elsewhere/c", "ns/b"}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

func TestPatches(t *testing.T) {
	p := pod("p")
	p.Spec.Containers = []corev1.Container{{Name: "a", Image: "one"}}
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(p, widget("w")).Build()
	strategic := client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"b"}]}}`))
	must(t, c.Patch(t.Context(), p, strategic))
	if len(p.Spec.Containers) != 2 {
		t.Errorf("a strategic merge left the containers %v", p.Spec.Containers)
	}
	must(t, c.Patch(t.Context(), p, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`))))
	if p.Labels["a"] != "b" {
		t.Errorf("a JSON patch left the labels %v", p.Labels)
	}
	w := get(t, c, widget("w"))
	stale := w.DeepCopyObject().(*Widget)
	w.Spec.Size = 3
	must(t, c.Patch(t.Context(), w, client.MergeFrom(stale)))
	w.Spec.Size = 4
	wantReason(t, c.Patch(t.Context(), w, client.MergeFromWithOptions(stale, client.MergeFromWithOptimisticLock{})), metav1.StatusReasonConflict)

	for name, test := range map[string]struct {
		patch client.Patch
		want  metav1.StatusReason
	}{
		"JSON that is none":    {client.RawPatch(types.JSONPatchType, []byte(`[{"op`)), metav1.StatusReasonBadRequest},
		"merge that is none":   {merge(`{"a`), metav1.StatusReasonBadRequest},
		"failing test":         {client.RawPatch(types.JSONPatchType, []byte(`[{"op":"test","path":"/metadata/name","value":"x"}]`)), metav1.StatusReasonInvalid},
		"value of other type":  {merge(`{"spec":{"containers":"x"}}`), metav1.StatusReasonInvalid},
		"another name":         {merge(`{"metadata":{"name":"x"}}`), metav1.StatusReasonBadRequest},
		"unknown type":         {client.RawPatch("text/plain", []byte(`x`)), metav1.StatusReasonUnsupportedMediaType},
		"apply without owner":  {client.RawPatch(types.ApplyPatchType, []byte(`{}`)), metav1.StatusReasonInvalid},
		"version that is past": {merge(`{"metadata":{"resourceVersion":"1"}}`), metav1.StatusReasonConflict},
	} {
		t.Run(name, func(t *testing.T) { wantReason(t, c.Patch(t.Context(), pod("p"), test.patch), test.want) })
	}
}

func TestWhatIsStoredIsNotShared(t *testing.T) {
	cm := configMap("a", nil)
	cm.Data = map[string]string{"k": "v"}
	c := fake.NewClientBuilder().Build()
	must(t, c.Create(t.Context(), cm))
	cm.Data["k"] = "changed by the caller"
	first := get(t, c, configMap("a", nil))
	first.Data["k"] = "changed by a reader"
	var list corev1.ConfigMapList
	must(t, c.List(t.Context(), &list))
	list.Items[0].Data["k"] = "changed by a lister"
	if got := get(t, c, configMap("a", nil)).Data["k"]; got != "v" {
		t.Errorf("the stored object was %s", got)
	}
}

func TestEndedContext(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	ctx, cancel := contextThatEnds(t)
	cancel()
	if err := c.Create(ctx, configMap("a", nil)); err != ctx.Err() {
		t.Errorf("create with an ended context: %v", err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"}, configMap("a", nil)); !apierrors.IsNotFound(err) {
		t.Errorf("it created all the same: %v", err)
	}
}

func TestMetadataMayBeAPointer(t *testing.T) {
	scheme := newScheme()
	scheme.AddKnownTypes(exampleVersion, &Pointed{})
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	old := &Pointed{ObjectMeta: &metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
	must(t, c.Create(t.Context(), old))
	changed := &Pointed{ObjectMeta: &metav1.ObjectMeta{Namespace: "ns", Name: "a", Labels: map[string]string{"x": "y"}}}
	must(t, c.Patch(t.Context(), changed, client.MergeFrom(old))) // the patch sets the resourceVersion to null
	var got Pointed
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"}, &got))
	if got.Labels["x"] != "y" {
		t.Errorf("patched %+v", got)
	}
}
