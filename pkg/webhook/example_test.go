package webhook_test

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/webhook/admission"
	"github.com/operon-dev/operon/pkg/webhook/certificates"
)

// ownerLabel gives ConfigMaps an owner, and forbids to take it away.
type ownerLabel struct{}

func (ownerLabel) Default(ctx context.Context, c *corev1.ConfigMap) error {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return err
	}
	if c.Labels["owner"] == "" {
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels["owner"] = req.UserInfo.Username
	}
	return nil
}

func (ownerLabel) ValidateCreate(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, nil
}

func (ownerLabel) ValidateUpdate(_ context.Context, old, c *corev1.ConfigMap) (admission.Warnings, error) {
	if old.Labels["owner"] != c.Labels["owner"] {
		return nil, errors.New("an owner stays an owner")
	}
	return nil, nil
}

func (ownerLabel) ValidateDelete(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, nil
}

// The manager serves the webhooks of ConfigMaps, and makes the certificates for them itself.
func Example() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		WebhookCertificates: &certificates.Options{
			Service: types.NamespacedName{Namespace: "owners-system", Name: "owners-webhook-service"},
		},
	})
	if err != nil {
		panic(err)
	}
	err = ctrl.NewWebhookManagedBy(mgr, &corev1.ConfigMap{}).
		WithDefaulter(ownerLabel{}).
		WithValidator(ownerLabel{}).
		Complete()
	if err != nil {
		panic(err)
	}
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		panic(err)
	}
}
