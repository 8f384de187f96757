package nodes

import (
	"context"
	"testing"

	"github.com/operon-dev/operon/pkg/client"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// trust is a Reader that has the bundle "there" of signer "example.com/s" with the label "live".
type trust struct{ client.Reader }

func (trust) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	if key.Name != "there" {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return nil
}

func (trust) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	if signer, _ := o.FieldSelector.RequiresExactMatch("spec.signerName"); signer == "example.com/s" && o.LabelSelector.Matches(labels.Set{"live": ""}) {
		list.(*certificatesv1.ClusterTrustBundleList).Items = make([]certificatesv1.ClusterTrustBundle, 1)
	}
	return nil
}

func TestMissingTrustBundles(t *testing.T) {
	const none = "combination of signerName and labelSelector matched zero ClusterTrustBundles"
	live := &metav1.LabelSelector{MatchLabels: map[string]string{"live": ""}}
	dead := &metav1.LabelSelector{MatchLabels: map[string]string{"dead": ""}}
	for name, c := range map[string]struct {
		projection corev1.ClusterTrustBundleProjection
		want       string
	}{
		"a name":                    {corev1.ClusterTrustBundleProjection{Name: new("there")}, ""},
		"a name that nothing has":   {corev1.ClusterTrustBundleProjection{Name: new("gone")}, `clustertrustbundle "gone" not found`},
		"a name that is optional":   {corev1.ClusterTrustBundleProjection{Name: new("gone"), Optional: new(true)}, ""},
		"a signer and its labels":   {corev1.ClusterTrustBundleProjection{SignerName: new("example.com/s"), LabelSelector: live}, ""},
		"a signer without a bundle": {corev1.ClusterTrustBundleProjection{SignerName: new("example.com/t"), LabelSelector: live}, none},
		"labels that nothing has":   {corev1.ClusterTrustBundleProjection{SignerName: new("example.com/s"), LabelSelector: dead}, none},
		"a signer and all labels":   {corev1.ClusterTrustBundleProjection{SignerName: new("example.com/s"), LabelSelector: &metav1.LabelSelector{}}, ""},
		"a signer and no labels":    {corev1.ClusterTrustBundleProjection{SignerName: new("example.com/s")}, none},
	} {
		t.Run(name, func(t *testing.T) {
			l := lookup{reader: trust{}, namespace: "ns"}
			got := l.volume(t.Context(), &corev1.Volume{VolumeSource: corev1.VolumeSource{
				Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ClusterTrustBundle: &c.projection}}},
			}})
			if got != c.want || l.err != nil {
				t.Errorf("%q, error %v; want %q", got, l.err, c.want)
			}
		})
	}
}
