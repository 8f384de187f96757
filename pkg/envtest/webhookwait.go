package envtest

import (
	"context"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// WaitForWebhooks waits until the API server has every configuration, for options.MaxTime at most. Its error says which one is missing.
//
// The API server asks a webhook some milliseconds after it has its configuration.
func WaitForWebhooks(config *rest.Config,
	mutatingWebhooks []*admissionv1.MutatingWebhookConfiguration,
	validatingWebhooks []*admissionv1.ValidatingWebhookConfiguration,
	options WebhookInstallOptions,
) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), options.maxTime())
	defer cancel()
	admission := client.AdmissionregistrationV1()
	for _, c := range mutatingWebhooks {
		if err := options.awaitFound(ctx, func() error {
			_, err := admission.MutatingWebhookConfigurations().Get(ctx, c.Name, metav1.GetOptions{})
			return err
		}); err != nil {
			return fmt.Errorf("MutatingWebhookConfiguration %s: %w", c.Name, err)
		}
	}
	for _, c := range validatingWebhooks {
		if err := options.awaitFound(ctx, func() error {
			_, err := admission.ValidatingWebhookConfigurations().Get(ctx, c.Name, metav1.GetOptions{})
			return err
		}); err != nil {
			return fmt.Errorf("ValidatingWebhookConfiguration %s: %w", c.Name, err)
		}
	}
	return nil
}

func (o *WebhookInstallOptions) awaitFound(ctx context.Context, get func() error) error {
	for {
		err := get()
		if !apierrors.IsNotFound(err) {
			return err
		}
		if err := wait(ctx, o.pollInterval()); err != nil {
			return fmt.Errorf("not there within %s", o.maxTime())
		}
	}
}

func (o *WebhookInstallOptions) pollInterval() time.Duration {
	if o.PollInterval == 0 {
		return defaultPollInterval
	}
	return o.PollInterval
}
