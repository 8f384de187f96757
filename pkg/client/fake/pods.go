package fake

import (
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// evict deletes the pod at key. Disruption budgets are not asked.
func (s *server) evict(k *kind, key types.NamespacedName, body client.Object, dryRun []string) error {
	var options *metav1.DeleteOptions
	switch eviction := body.(type) {
	case *policyv1.Eviction:
		options = eviction.DeleteOptions.DeepCopy()
	case *policyv1beta1.Eviction:
		options = eviction.DeleteOptions.DeepCopy()
	default:
		return apierrors.NewBadRequest(fmt.Sprintf("the body is a %T, not an Eviction", body))
	}
	if options == nil {
		options = &metav1.DeleteOptions{}
	}
	if _, err := s.read(k, key); err != nil {
		return err
	}
	options.DryRun = append(options.DryRun, dryRun...)
	return s.delete(k, key, options)
}

// bind assigns the pod at key to a node, once.
func (s *server) bind(k *kind, key types.NamespacedName, body client.Object, dryRun []string) error {
	binding, ok := body.(*corev1.Binding)
	if !ok {
		return apierrors.NewBadRequest(fmt.Sprintf("the body is a %T, not a Binding", body))
	}
	if binding.Target.Name == "" {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Binding").GroupKind(), key.Name, fieldRequired("", "target", "name"))
	}
	o := writeOptions{dryRun: dry(dryRun), subresource: "binding", anyVersion: true}
	_, err := s.update(k, key, func(old *entry) (client.Object, error) {
		u, err := k.asMap(old.obj)
		if err != nil {
			return nil, err
		}
		if node, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName"); node != "" {
			return nil, apierrors.NewConflict(k.resource, key.Name, fmt.Errorf("pod %s is already assigned to node %q", key.Name, node))
		}
		if old.obj.GetDeletionTimestamp() != nil {
			return nil, apierrors.NewConflict(k.resource, key.Name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", key.Name))
		}
		if err := unstructured.SetNestedField(u.Object, binding.Target.Name, "spec", "nodeName"); err != nil {
			return nil, err
		}
		return k.admit(u)
	}, o)
	return err
}

// never is when the tokens of a fake expire whose lifetime nobody has asked for.
var never = time.Date(6041, time.January, 1, 0, 0, 0, 0, time.UTC)

// issueToken fills in the answer to a request for a token of the service account at key.
func (s *server) issueToken(k *kind, key types.NamespacedName, body client.Object) error {
	request, ok := body.(*authenticationv1.TokenRequest)
	if !ok {
		return apierrors.NewBadRequest(fmt.Sprintf("the body is a %T, not a TokenRequest", body))
	}
	if _, err := s.read(k, key); err != nil {
		return err
	}
	expires := metav1.NewTime(never)
	if seconds := request.Spec.ExpirationSeconds; seconds != nil {
		expires = whole(time.Now().Add(time.Duration(*seconds) * time.Second))
	}
	request.Status = authenticationv1.TokenRequestStatus{Token: "fake-token", ExpirationTimestamp: expires}
	return nil
}
