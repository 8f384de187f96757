package envtest

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/operon-dev/operon/pkg/conversion"
)

// conversionPath is where a webhook server converts, unless the definition says otherwise.
const conversionPath = "/convert"

// convertHere points the conversion of the definitions at the local webhook
// server: of those whose kind has a hub and spokes in the scheme, and, with
// IgnoreSchemeConvertible, of those that convert by webhook. It returns copies where it changes something.
func convertHere(crds []*apiextensionsv1.CustomResourceDefinition, o CRDInstallOptions) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	webhooks := o.WebhookOptions
	if len(webhooks.LocalServingCAData) == 0 {
		return crds, nil
	}
	known := o.Scheme
	if known == nil {
		known = scheme.Scheme
	}
	pointed := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(crds))
	for _, crd := range crds {
		byWebhook := crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
		convertible, err := converts(known, schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind})
		if err != nil {
			return nil, err
		}
		if convertible || byWebhook && webhooks.IgnoreSchemeConvertible {
			crd = crd.DeepCopy()
			webhooks.convert(crd)
		}
		pointed = append(pointed, crd)
	}
	return pointed, nil
}

func (o *WebhookInstallOptions) convert(crd *apiextensionsv1.CustomResourceDefinition) {
	path, versions := conversionPath, []string{"v1"}
	if c := crd.Spec.Conversion; c != nil && c.Webhook != nil {
		if len(c.Webhook.ConversionReviewVersions) > 0 {
			versions = c.Webhook.ConversionReviewVersions
		}
		if cc := c.Webhook.ClientConfig; cc != nil && cc.Service != nil && cc.Service.Path != nil {
			path = *cc.Service.Path
		}
	}
	address := o.url(path)
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &address, CABundle: o.LocalServingCAData},
			ConversionReviewVersions: versions,
		},
	}
}

// converts says whether the kind's versions in the scheme are a hub and spokes.
func converts(known *runtime.Scheme, kind schema.GroupKind) (bool, error) {
	hub, spoke := false, false
	for _, version := range known.VersionsForGroupKind(kind) {
		obj, err := known.New(version.WithKind(kind.Kind))
		if err != nil {
			return false, err
		}
		switch obj.(type) {
		case conversion.Hub:
			hub = true
		case conversion.Convertible:
			spoke = true
		}
	}
	return hub && spoke, nil
}
