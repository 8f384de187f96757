package nodes

import (
	"context"
	"fmt"

	"github.com/operon-dev/operon/pkg/client"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bundle says what keeps a volume of trust bundles from being mounted.
func (l *lookup) bundle(ctx context.Context, p *corev1.ClusterTrustBundleProjection) string {
	if p.Optional != nil && *p.Optional {
		return ""
	}
	if p.Name != nil {
		var one certificatesv1.ClusterTrustBundle
		err := l.reader.Get(ctx, client.ObjectKey{Name: *p.Name}, &one)
		if apierrors.IsNotFound(err) {
			return fmt.Sprintf("clustertrustbundle %q not found", *p.Name)
		}
		l.fail("clustertrustbundle "+*p.Name, err)
		return ""
	}
	const none = "combination of signerName and labelSelector matched zero ClusterTrustBundles"
	if p.SignerName == nil || p.LabelSelector == nil {
		return none
	}
	selector, err := metav1.LabelSelectorAsSelector(p.LabelSelector)
	if err != nil {
		return fmt.Sprintf("while parsing label selector: %v", err)
	}
	var list certificatesv1.ClusterTrustBundleList
	if err := l.reader.List(ctx, &list, client.MatchingFields{"spec.signerName": *p.SignerName}, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		l.fail("clustertrustbundles of "+*p.SignerName, err)
		return ""
	}
	if len(list.Items) == 0 {
		return none
	}
	return ""
}

// fail keeps the first error that is no answer.
func (l *lookup) fail(what string, err error) {
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("%s: %w", what, err)
	}
}
