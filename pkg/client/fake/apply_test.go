package fake_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	autoscalingv1ac "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/client/fake/internal/sidebyside"
)

func TestApplyOwnsFields(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	data := func(values map[string]string) *corev1ac.ConfigMapApplyConfiguration {
		return corev1ac.ConfigMap("a", "ns").WithData(values)
	}
	config := data(map[string]string{"x": "1", "y": "1"})
	must(t, c.Apply(t.Context(), config, client.FieldOwner("one")))
	if config.UID == nil || config.ResourceVersion == nil || *config.ResourceVersion != "1" {
		t.Errorf("the configuration does not hold the answer: %+v", config)
	}
	wantReason(t, c.Apply(t.Context(), data(map[string]string{"x": "2"}), client.FieldOwner("two")), metav1.StatusReasonConflict)
	must(t, c.Apply(t.Context(), data(map[string]string{"x": "2"}), client.FieldOwner("two"), client.ForceOwnership))
	must(t, c.Apply(t.Context(), data(map[string]string{}), client.FieldOwner("one")))
	cm := get(t, c, configMap("a", nil))
	if diff := cmp.Diff(map[string]string{"x": "2"}, cm.Data); diff != "" {
		t.Errorf("what nobody owns any more is gone, the rest is there (-want +got):\n%s", diff)
	}
	if cm.ManagedFields != nil {
		t.Errorf("managedFields were not asked for: %v", cm.ManagedFields)
	}
	version := cm.ResourceVersion
	must(t, c.Apply(t.Context(), data(map[string]string{"x": "2"}), client.FieldOwner("two")))
	if got := get(t, c, configMap("a", nil)).ResourceVersion; got != version {
		t.Errorf("an apply that changes nothing moved the resourceVersion from %s to %s", version, got)
	}
	wantReason(t, c.Apply(t.Context(), data(nil)), metav1.StatusReasonInvalid)
	wantReason(t, c.Apply(t.Context(), data(nil).WithResourceVersion("1"), client.FieldOwner("one")), metav1.StatusReasonConflict)
	wantReason(t, c.Apply(t.Context(), corev1ac.ConfigMap("", "ns"), client.FieldOwner("one")), metav1.StatusReasonInvalid)
}

func TestApplyConflictsWithUpdates(t *testing.T) {
	cm := configMap("a", nil)
	cm.Data = map[string]string{"x": "1"}
	c := fake.NewClientBuilder().WithReturnManagedFields().Build()
	must(t, c.Create(t.Context(), cm, client.FieldOwner("creator")))
	cm.Data["y"] = "1"
	must(t, c.Update(t.Context(), cm, client.FieldOwner("updater")))
	var owners []string
	for _, entry := range cm.ManagedFields {
		owners = append(owners, entry.Manager+" "+string(entry.FieldsV1.GetRawBytes()))
	}
	want := []string{`creator {"f:data":{".":{},"f:x":{}}}`, `updater {"f:data":{"f:y":{}}}`}
	if diff := cmp.Diff(want, owners); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
	err := c.Apply(t.Context(), corev1ac.ConfigMap("a", "ns").WithData(map[string]string{"y": "2"}), client.FieldOwner("applier"))
	wantReason(t, err, metav1.StatusReasonConflict)
	wantError(t, err, `conflict with "updater"`)
}

func TestOwnersAreKnownAfterManyWrites(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(configMap("a", nil)).Build()
	for range 1200 {
		cm := get(t, c, configMap("a", nil))
		cm.Data = map[string]string{"x": cm.ResourceVersion}
		must(t, c.Update(t.Context(), cm, client.FieldOwner("updater")))
	}
	must(t, c.Apply(t.Context(), corev1ac.ConfigMap("a", "ns").WithData(map[string]string{"z": "2"}), client.FieldOwner("applier")))
}

func TestManagedFieldsCanBeWritten(t *testing.T) {
	c := fake.NewClientBuilder().WithReturnManagedFields().Build()
	cm := configMap("a", nil)
	cm.Data = map[string]string{"x": "1"}
	must(t, c.Create(t.Context(), cm, client.FieldOwner("creator")))
	cm.ManagedFields[0].Manager, cm.ManagedFields[0].Operation = "applier", metav1.ManagedFieldsOperationApply
	must(t, c.Update(t.Context(), cm))
	must(t, c.Apply(t.Context(), corev1ac.ConfigMap("a", "ns").WithData(map[string]string{"x": "2"}), client.FieldOwner("applier")))
}

func TestApplyMergesListsAsSchemasSay(t *testing.T) {
	c := fake.NewClientBuilder().WithCRDs(gadgetCRD()).Build()
	apply := func(owner string, part string) {
		t.Helper()
		g := unstructuredOf(gadgetKind, "g")
		g.Object["spec"] = map[string]any{"color": "red", "parts": []any{map[string]any{"name": part}}}
		must(t, c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(g), client.FieldOwner(owner)))
	}
	apply("one", "x")
	apply("two", "y")
	got := get(t, c, unstructuredOf(gadgetKind, "g")).Object["spec"].(map[string]any)["parts"]
	want := []any{map[string]any{"name": "x", "count": int64(1)}, map[string]any{"name": "y", "count": int64(1)}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestApplyToSubresources(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	must(t, c.Create(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "d"}}))
	named := appsv1ac.Deployment("d", "ns")
	status := appsv1ac.Deployment("d", "ns").WithStatus(appsv1ac.DeploymentStatus().WithReplicas(3)).WithLabels(map[string]string{"a": "b"})
	must(t, c.Status().Apply(t.Context(), status, client.FieldOwner("me")))
	scale := autoscalingv1ac.Scale().WithSpec(autoscalingv1ac.ScaleSpec().WithReplicas(4))
	must(t, c.SubResource("scale").Apply(t.Context(), named, &client.SubResourceApplyOptions{
		ApplyOptions: client.ApplyOptions{FieldManager: "me"}, SubResourceBody: scale,
	}))
	var d appsv1.Deployment
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "d"}, &d))
	if d.Status.Replicas != 3 || d.Labels != nil || d.Spec.Replicas == nil || *d.Spec.Replicas != 4 {
		t.Errorf("deployment: %+v", d)
	}
	var read autoscalingv1.Scale
	must(t, c.SubResource("scale").Get(t.Context(), &d, &read))
	if read.Spec.Replicas != 4 || scale.Status == nil || *scale.Status.Replicas != 3 {
		t.Errorf("scale: %+v, answered %+v", read, scale.Status)
	}
	wantReason(t, c.Status().Apply(t.Context(), appsv1ac.Deployment("absent", "ns"), client.FieldOwner("me")), metav1.StatusReasonNotFound)
}

func TestApplyPatch(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	cm := configMap("a", nil)
	cm.APIVersion, cm.Kind = "v1", "ConfigMap"
	cm.Data = map[string]string{"x": "1"}
	must(t, c.Patch(t.Context(), cm, client.RawPatch(types.ApplyPatchType, []byte(sidebyside.Encode(cm))), client.FieldOwner("me")))
	if cm.Kind != "" {
		t.Errorf("the answer says that it is a %s, which its Go type does", cm.Kind)
	}
	cm.APIVersion, cm.Kind = "v1", "ConfigMap"
	cm.Data = map[string]string{"y": "1"}
	must(t, c.Patch(t.Context(), cm, client.RawPatch(types.ApplyPatchType, []byte(sidebyside.Encode(cm))), client.FieldOwner("me")))
	if diff := cmp.Diff(map[string]string{"y": "1"}, get(t, c, configMap("a", nil)).Data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestApplyDoesNotDelete(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	then := metav1.NewTime(time.Unix(1000, 0))
	held := corev1ac.ConfigMap("a", "ns").WithFinalizers("example.com/a").WithDeletionTimestamp(then)
	must(t, c.Apply(t.Context(), held, client.FieldOwner("me")))
	if got := get(t, c, configMap("a", nil)); got.DeletionTimestamp == nil || !got.DeletionTimestamp.Equal(&then) {
		t.Errorf("created with the deletionTimestamp %v", got.DeletionTimestamp)
	}
	must(t, c.Create(t.Context(), configMap("b", nil)))
	must(t, c.Apply(t.Context(), corev1ac.ConfigMap("b", "ns").WithDeletionTimestamp(then), client.FieldOwner("me")))
	if got := get(t, c, configMap("b", nil)); got.DeletionTimestamp != nil {
		t.Errorf("an apply set the deletionTimestamp %v", got.DeletionTimestamp)
	}
}

func TestTypeConvertersSayWhatCanBeWritten(t *testing.T) {
	none, err := managedfields.NewTypeConverter(nil, false)
	must(t, err)
	c := fake.NewClientBuilder().WithTypeConverters(none).Build()
	wantError(t, c.Create(t.Context(), configMap("a", nil)), "no corresponding type")
	c = fake.NewClientBuilder().WithTypeConverters(none, managedfields.NewDeducedTypeConverter()).Build()
	must(t, c.Create(t.Context(), configMap("a", nil)))
	must(t, c.Apply(t.Context(), corev1ac.ConfigMap("a", "ns").WithData(map[string]string{"y": "2"}), client.FieldOwner("me")))
}

// patchedWith applies a document to the ConfigMap a, and says in short what became of it.
func patchedWith(t *testing.T, c client.Client, namespace, document string) string {
	t.Helper()
	cm := configMap("a", nil)
	cm.Namespace = namespace
	err := c.Patch(t.Context(), cm, client.RawPatch(types.ApplyPatchType, []byte(document)), client.FieldOwner("applier"), client.ForceOwnership)
	if err != nil {
		return string(apierrors.ReasonForError(err))
	}
	if cm.Namespace != namespace {
		t.Errorf("the answer is of namespace %q", cm.Namespace)
	}
	return fmt.Sprintf("%s %v", cm.Name, get(t, c, configMapIn(namespace, "a")).Data)
}

func configMapIn(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// What a patch is made to is said by the object, as the path of a request says it; the document may leave its namespace out.
func TestAnApplyPatchGoesToTheObjectThatItIsMadeTo(t *testing.T) {
	head := `{"apiVersion":"v1","kind":"ConfigMap","data":{"k":"v"}`
	documents := []struct{ name, document, want string }{
		{"nothing said", head + `}`, "BadRequest"},
		{"no namespace", head + `,"metadata":{"name":"a"}}`, "a map[k:v]"},
		{"no name", head + `,"metadata":{"labels":{"a":"b"}}}`, "BadRequest"},
		{"another name", head + `,"metadata":{"name":"b"}}`, "BadRequest"},
		{"another namespace", head + `,"metadata":{"name":"a","namespace":"elsewhere"}}`, "BadRequest"},
		{"another kind", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`, "BadRequest"},
		{"another version", `{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"}}`, "BadRequest"},
		{"no kind", `{"apiVersion":"v1","metadata":{"name":"a"}}`, "BadRequest"},
		{"no version", `{"kind":"ConfigMap","metadata":{"name":"a"}}`, "BadRequest"},
		{"no object", `[]`, "BadRequest"},
		{"YAML", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n", "a map[k:v]"},
	}
	for _, tc := range documents {
		t.Run(tc.name, func(t *testing.T) {
			if got := patchedWith(t, fake.NewClientBuilder().Build(), "ns", tc.document); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	t.Run("on a server", func(t *testing.T) {
		c, err := client.New(realServer(t), client.Options{})
		must(t, err)
		for _, tc := range documents {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "apply-"}}
			must(t, c.Create(t.Context(), ns))
			if got := patchedWith(t, c, ns.Name, tc.document); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
			}
		}
	})
}
