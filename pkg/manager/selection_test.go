package manager_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
)

// TestClientsSeeWhatTheCacheIsToldToHold reads the same ConfigMaps of a real API server through managers whose caches differ. The
// objects are read as the list has them, and again after an own write.
func TestClientsSeeWhatTheCacheIsToldToHold(t *testing.T) {
	config := realServer(t)
	near, far := namespace(t, config), namespace(t, config)
	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []struct{ namespace, name, color string }{{near, "leaf", "green"}, {near, "rose", "red"}, {far, "pine", "green"}} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.namespace, Name: key.name, Labels: map[string]string{"color": key.color, "test": near},
		}}
		if err := direct.Create(t.Context(), cm, client.FieldOwner("test")); err != nil {
			t.Fatal(err)
		}
	}
	green := labels.SelectorFromSet(labels.Set{"color": "green"})
	mark := func(obj any) (any, error) {
		cm := obj.(*corev1.ConfigMap)
		cm.Data = map[string]string{"seen": "yes"}
		return cm, nil
	}
	both := map[string]cache.Config{near: {}, far: {}}
	for name, tt := range map[string]struct {
		options cache.Options
		want    []string
	}{
		"all": {cache.Options{}, []string{"leaf", "pine", "rose"}},
		"a namespace": {
			cache.Options{DefaultNamespaces: map[string]cache.Config{near: {}}},
			[]string{"leaf", "rose"},
		},
		"two namespaces, each with a selector of its own": {
			cache.Options{DefaultNamespaces: map[string]cache.Config{near: {LabelSelector: green}, far: {FieldSelector: fields.OneTermEqualSelector("metadata.name", "oak")}}},
			[]string{"leaf"},
		},
		"a label":             {cache.Options{DefaultNamespaces: both, DefaultLabelSelector: green}, []string{"leaf", "pine"}},
		"a field":             {cache.Options{DefaultNamespaces: both, DefaultFieldSelector: fields.OneTermEqualSelector("metadata.name", "rose")}, []string{"rose"}},
		"a kind of its own":   {cache.Options{DefaultLabelSelector: labels.Nothing(), ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Label: green}}}, []string{"leaf", "pine"}},
		"a transform":         {cache.Options{DefaultNamespaces: both, DefaultTransform: mark}, []string{"leaf seen", "pine seen", "rose seen"}},
		"with managed fields": {cache.Options{DefaultNamespaces: map[string]cache.Config{far: {}}, KeepManagedFields: true}, []string{"pine managed"}},
		"kept, and stripped by a transform": {
			cache.Options{DefaultNamespaces: map[string]cache.Config{far: {}}, KeepManagedFields: true, DefaultTransform: cache.TransformStripManagedFields()},
			[]string{"pine"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			mgr := newManager(t, config, ctrl.Options{Cache: tt.options})
			stop := start(mgr)
			defer func() {
				if err := stop(); err != nil {
					t.Error(err)
				}
			}()
			await(t, mgr.Elected(), "the start")
			var list corev1.ConfigMapList
			if err := mgr.GetClient().List(t.Context(), &list, client.MatchingLabels{"test": near}); err != nil {
				t.Fatal(err)
			}
			tell := func(cm *corev1.ConfigMap) string {
				says := cm.Name
				if cm.Data["seen"] != "" {
					says += " seen"
				}
				if len(cm.ManagedFields) > 0 {
					says += " managed"
				}
				return says
			}
			var got []string
			for i := range list.Items {
				cm := &list.Items[i]
				got = append(got, tell(cm))

				before := cm.DeepCopy()
				cm.Annotations = map[string]string{"by": t.Name()}
				if err := mgr.GetClient().Patch(t.Context(), cm, client.MergeFrom(before)); err != nil {
					t.Fatal(err)
				}
				written := &corev1.ConfigMap{}
				if err := mgr.GetClient().Get(t.Context(), client.ObjectKeyFromObject(cm), written); err != nil {
					t.Fatal(err)
				}
				if is := tell(written); written.Annotations["by"] != t.Name() || is != got[i] {
					t.Errorf("after an own write %q is %q, annotations %v", got[i], is, written.Annotations)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
