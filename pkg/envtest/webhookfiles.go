package envtest

import (
	"errors"
	"fmt"
	"io/fs"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// readPaths moves the configurations that Paths hold to the others: all of them, or none.
func (o *WebhookInstallOptions) readPaths() error {
	var read webhooks
	for _, path := range o.Paths {
		files, err := manifests(path)
		if errors.Is(err, fs.ErrNotExist) && o.IgnoreErrorIfPathMissing {
			continue
		}
		if err != nil {
			return fmt.Errorf("webhook configurations: %w", err)
		}
		for _, file := range files {
			if err := read.add(file); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	o.MutatingWebhooks = append(o.MutatingWebhooks, read.mutating...)
	o.ValidatingWebhooks = append(o.ValidatingWebhooks, read.validating...)
	o.Paths = nil
	return nil
}

// webhooks are the configurations that files hold.
type webhooks struct {
	mutating   []*admissionv1.MutatingWebhookConfiguration
	validating []*admissionv1.ValidatingWebhookConfiguration
}

func (w *webhooks) add(file string) error {
	return eachDocument(file, func(what metav1.TypeMeta, document []byte) error {
		switch what.Kind {
		case "MutatingWebhookConfiguration":
			c := &admissionv1.MutatingWebhookConfiguration{}
			if err := decode(what, document, admissionv1.SchemeGroupVersion, c); err != nil {
				return err
			}
			w.mutating = append(w.mutating, c)
		case "ValidatingWebhookConfiguration":
			c := &admissionv1.ValidatingWebhookConfiguration{}
			if err := decode(what, document, admissionv1.SchemeGroupVersion, c); err != nil {
				return err
			}
			w.validating = append(w.validating, c)
		}
		return nil
	})
}
