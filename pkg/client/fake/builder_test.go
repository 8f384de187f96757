package fake_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	clientgofake "k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/client/interceptor"
)

func TestBuilderHoldsObjectsAsTheyAre(t *testing.T) {
	given, versioned := widget("a"), widget("b")
	given.Status.Ready = 3
	versioned.ResourceVersion, versioned.Generation, versioned.UID = "5", 4, "u"
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithStatusSubresource(&Widget{}).
		WithObjects(given).
		WithLists(&WidgetList{Items: []Widget{*versioned}}).
		WithRuntimeObjects(configMap("c", nil), &corev1.ConfigMapList{Items: []corev1.ConfigMap{*configMap("d", nil)}}).
		Build()
	if got := get(t, c, widget("a")); got.Status.Ready != 3 || got.ResourceVersion != "999" || got.UID != "" || given.ResourceVersion != "999" {
		t.Errorf("given %+v, held %+v", given, got)
	}
	got := get(t, c, widget("b"))
	if got.ResourceVersion != "5" || got.Generation != 4 || got.UID != "u" {
		t.Errorf("held %+v", got)
	}
	got.Spec.Size = 3
	must(t, c.Update(t.Context(), got))
	if got.ResourceVersion != "6" || got.Generation != 5 {
		t.Errorf("updated %+v", got)
	}
	get(t, c, configMap("c", nil))
	get(t, c, configMap("d", nil))
	if got := fake.NewFakeClient(configMap("e", nil)); get(t, got, configMap("e", nil)).ResourceVersion != "999" {
		t.Error("NewFakeClient holds something else than WithRuntimeObjects")
	}
}

func TestBuilderPanics(t *testing.T) {
	now := metav1.Now()
	deleted := configMap("a", nil)
	deleted.DeletionTimestamp = &now
	owned := configMap("a", nil)
	owned.ManagedFields = []metav1.ManagedFieldsEntry{{}}
	none := func(client.Object) []string { return nil }
	for want, build := range map[string]func(){
		"object a has a deletionTimestamp but no finalizers": func() { fake.NewClientBuilder().WithObjects(deleted).Build() },
		`configmaps "a" already exists`:                      func() { fake.NewFakeClient(configMap("a", nil), configMap("a", nil)) },
		"*v1.ConfigMap: managedFields: ":                     func() { fake.NewFakeClient(owned) },
		"no kind is registered":                              func() { fake.NewFakeClient(widget("a")) },
		"WithTypeConverters does not go with WithObjectTracker": func() {
			fake.NewClientBuilder().WithObjectTracker(tracker()).WithTypeConverters(managedfields.NewDeducedTypeConverter()).Build()
		},
		"WithIndex: field f of /v1, Kind=Pod has an index already": func() {
			fake.NewClientBuilder().WithIndex(&corev1.Pod{}, "f", none).WithIndex(&corev1.Pod{}, "f", none)
		},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panic %s, want %s", got, want)
				}
			}()
			build()
		})
	}
}

func TestGlobalResourceVersions(t *testing.T) {
	c := fake.NewClientBuilder().WithGlobalResourceVersionCounter().WithObjects(configMap("a", nil), configMap("b", nil)).Build()
	a, b := get(t, c, configMap("a", nil)), get(t, c, configMap("b", nil))
	n := configMap("c", nil)
	must(t, c.Create(t.Context(), n))
	a.Data = map[string]string{"x": "y"}
	must(t, c.Update(t.Context(), a))
	var list corev1.ConfigMapList
	must(t, c.List(t.Context(), &list))
	if got := fmt.Sprint(b.ResourceVersion, n.ResourceVersion, a.ResourceVersion, list.ResourceVersion); got != "2344" {
		t.Errorf("versions %s, want 2 3 4 and 4 of the list", got)
	}
}

func TestInterceptorsStandBeforeTheFake(t *testing.T) {
	broken := fmt.Errorf("broken")
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return broken },
	}).WithObjects(configMap("a", nil)).Build()
	if err := c.Delete(t.Context(), configMap("a", nil)); err != broken {
		t.Errorf("delete: %v", err)
	}
	get(t, c, configMap("a", nil))
}

func tracker() clienttesting.ObjectTracker {
	return clienttesting.NewObjectTracker(clientgoscheme.Scheme, clientgoscheme.Codecs.UniversalDecoder())
}

func TestObjectTrackerIsSharedWithOthers(t *testing.T) {
	clientset := clientgofake.NewClientset(configMap("theirs", nil))
	c := fake.NewClientBuilder().WithObjectTracker(clientset.Tracker()).WithObjects(configMap("ours", nil)).Build()
	w, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, client.HasLabels{"watched"})
	must(t, err)
	defer w.Stop()
	get(t, c, configMap("theirs", nil))
	ours, err := clientset.CoreV1().ConfigMaps("ns").Get(t.Context(), "ours", metav1.GetOptions{})
	must(t, err)
	ours.Data = map[string]string{"x": "y"}
	_, err = clientset.CoreV1().ConfigMaps("ns").Update(t.Context(), ours, metav1.UpdateOptions{})
	must(t, err)
	seen := get(t, c, configMap("ours", nil))
	seen.Data["z"], seen.Labels = "1", map[string]string{"watched": "yes"}
	must(t, c.Update(t.Context(), seen))
	if got := next(t, w); got != "MODIFIED ours *v1.ConfigMap" {
		t.Errorf("watched %s", got)
	}
	var list corev1.ConfigMapList
	must(t, c.List(t.Context(), &list))
	if len(list.Items) != 2 {
		t.Errorf("listed %d objects", len(list.Items))
	}
	must(t, c.Delete(t.Context(), configMap("theirs", nil)))
	_, err = clientset.CoreV1().ConfigMaps("ns").Get(t.Context(), "theirs", metav1.GetOptions{})
	wantReason(t, err, metav1.StatusReasonNotFound)
}

func TestObjectTrackerAppliesByItsOwnRules(t *testing.T) {
	clientset := clientgofake.NewClientset()
	c := fake.NewClientBuilder().WithObjectTracker(clientset.Tracker()).WithReturnManagedFields().Build()
	data := func(value string) *corev1ac.ConfigMapApplyConfiguration {
		return corev1ac.ConfigMap("a", "ns").WithData(map[string]string{"x": value})
	}
	must(t, c.Apply(t.Context(), data("1"), client.FieldOwner("one")))
	wantReason(t, c.Apply(t.Context(), data("2"), client.FieldOwner("two")), metav1.StatusReasonConflict)
	must(t, c.Apply(t.Context(), data("2"), client.FieldOwner("two"), client.ForceOwnership))
	theirs, err := clientset.CoreV1().ConfigMaps("ns").Get(t.Context(), "a", metav1.GetOptions{})
	must(t, err)
	ours := get(t, c, configMap("a", nil))
	if theirs.Data["x"] != "2" || ours.Data["x"] != "2" || ours.ResourceVersion != "2" {
		t.Errorf("theirs %+v, ours %+v", theirs, ours)
	}
	if len(ours.ManagedFields) != 1 || ours.ManagedFields[0].Manager != "two" {
		t.Errorf("owners: %v", ours.ManagedFields)
	}
}

func TestWhatIsNilIsNamed(t *testing.T) {
	name := func(client.Object) []string { return nil }
	for want, build := range map[string]func(){
		"WithCRDs: definition 1 is nil":            func() { fake.NewClientBuilder().WithCRDs(gizmoCRD(), nil).Build() },
		"WithTypeConverters: a converter is nil":   func() { fake.NewClientBuilder().WithTypeConverters(nil).Build() },
		"WithIndex: the kind of a nil object":      func() { fake.NewClientBuilder().WithIndex(nil, "f", name) },
		"the values of field f of Pod is nil":      func() { fake.NewClientBuilder().WithIndex(pod("a"), "f", nil) },
		"objects of the fake client: <nil> is not": func() { fake.NewClientBuilder().WithObjects(nil).Build() },
		"*v1.Pod: expected pointer, but got nil":   func() { fake.NewClientBuilder().WithObjects((*corev1.Pod)(nil)).Build() },
		"*v1.Pod ns/a: ":                           func() { fake.NewClientBuilder().WithObjects(pod("a"), pod("a")).Build() },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panic %s, want %s", got, want)
				}
			}()
			build()
		}()
	}
	c := fake.NewClientBuilder().Build()
	wantError(t, c.Patch(t.Context(), pod("a"), nil), "the patch is nil")
	wantError(t, c.Status().Patch(t.Context(), pod("a"), nil), "the patch is nil")
	wantError(t, c.SubResource("scale").Patch(t.Context(), pod("a"), nil), "the patch is nil")
}
