package envtest

import (
	"errors"
	"fmt"
	"io/fs"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// readPaths moves the configurations that Paths hold to the others.
func (o *WebhookInstallOptions) readPaths() error {
	for _, path := range o.Paths {
		files, err := manifests(path)
		if errors.Is(err, fs.ErrNotExist) && o.IgnoreErrorIfPathMissing {
			continue
		}
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := o.readFile(file); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	o.Paths = nil
	return nil
}

func (o *WebhookInstallOptions) readFile(file string) error {
	return eachDocument(file, func(what metav1.TypeMeta, document []byte) error {
		switch what.Kind {
		case "MutatingWebhookConfiguration":
			c := &admissionv1.MutatingWebhookConfiguration{}
			if err := decode(what, document, admissionv1.SchemeGroupVersion, c); err != nil {
				return err
			}
			o.MutatingWebhooks = append(o.MutatingWebhooks, c)
		case "ValidatingWebhookConfiguration":
			c := &admissionv1.ValidatingWebhookConfiguration{}
			if err := decode(what, document, admissionv1.SchemeGroupVersion, c); err != nil {
				return err
			}
			o.ValidatingWebhooks = append(o.ValidatingWebhooks, c)
		}
		return nil
	})
}
