package scaffold

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
)

// planWebhookConfig plans what config has for webhooks: the service, the certificate, and what puts them together.
func planWebhookConfig(set *fileset.Set, data *webhookData) error {
	for _, file := range []struct{ path, template string }{
		{layout.WebhookKustomization, "webhook/kustomization.yaml"},
		{"config/webhook/service.yaml", "webhook/service.yaml"},
		{layout.ManagerWebhook, "webhook/manager_webhook_patch.yaml"},
		{layout.AllowWebhook, "webhook/allow-webhook-traffic.yaml"},
	} {
		if err := createMissing(set, file.path, file.template, data); err != nil {
			return err
		}
	}
	if data.ManagerMakes {
		if err := wireCertificates(set, data); err != nil {
			return err
		}
	} else if !set.Exists(layout.CertManagerKustomization) { // Kubebuilder's certificates are in files of other names.
		if err := firstError(
			create(set, layout.CertManagerKustomization, "webhook/certmanager_kustomization.yaml", data),
			create(set, "config/certmanager/kustomizeconfig.yaml", "webhook/certmanager_kustomizeconfig.yaml", data),
			create(set, "config/certmanager/certificate.yaml", "webhook/certificate.yaml", data),
		); err != nil {
			return err
		}
	}
	if data.Webhooks.Defaulting || data.Webhooks.Validation {
		if err := ensureItem(set, layout.WebhookKustomization, "resources", "- "+strings.TrimPrefix(layout.WebhookManifests, "config/webhook/")); err != nil {
			return err
		}
	}
	if set.Exists(layout.NetworkKustomization) {
		if err := ensureItem(set, layout.NetworkKustomization, "resources", "- allow-webhook-traffic.yaml"); err != nil {
			return err
		}
	}
	return set.Edit(layout.DefaultKustomization, func(text string) (string, error) { return enableWebhooks(text, data) })
}

// webhookItems are what config/default lists for webhooks, and certManagerItem for cert-manager.
var webhookItems = []struct{ key, item string }{
	{"resources", "- ../webhook"},
	{"patches", "- path: manager_webhook_patch.yaml\n  target:\n    kind: Deployment"},
}

const certManagerItem = "- ../certmanager"

// enableWebhooks adds to config/default what webhooks need.
func enableWebhooks(text string, data *webhookData) (string, error) {
	var err error
	for _, add := range webhookItems {
		if text, err = splice.EnsureItem(text, add.key, add.item); err != nil {
			return "", err
		}
	}
	if data.ManagerMakes {
		return text, nil
	}
	if text, err = splice.EnsureItem(text, "resources", certManagerItem); err != nil {
		return "", err
	}
	if strings.Contains(text, kubebuilderAny) {
		return enableKubebuilders(text, data)
	}
	replacements, err := data.from().Render("webhook/replacements.yaml", data)
	if err != nil || strings.Contains(text, "name: webhook-service, fieldPath: metadata.name") {
		return text, err
	}
	return splice.EnsureItem(text, "replacements", replacements)
}

// The phrases that begin the paragraphs which Kubebuilder's config/default has as comments, to be uncommented when they are needed.
const (
	kubebuilderAny        = "Uncomment the following block if you have any webhook"
	kubebuilderValidation = "Uncomment the following block if you have a ValidatingWebhook"
	kubebuilderDefaulting = "Uncomment the following block if you have a DefaultingWebhook"
	kubebuilderConversion = "Uncomment the following block if you have a ConversionWebhook"
)

// enableKubebuilders uncomments in Kubebuilder's config/default what webhooks need.
func enableKubebuilders(text string, data *webhookData) (string, error) {
	text = splice.UncommentLine(text, "replacements:")
	for _, block := range []struct {
		wanted bool
		phrase string
	}{
		{true, kubebuilderAny},
		{data.Webhooks.Validation, kubebuilderValidation},
		{data.Webhooks.Defaulting, kubebuilderDefaulting},
		{data.Webhooks.Conversion, kubebuilderConversion},
	} {
		if block.wanted {
			text = splice.Uncomment(text, block.phrase)
		}
	}
	if !data.Webhooks.Conversion {
		return text, nil
	}
	for index, marker := range []string{"crdkustomizecainjectionns", "crdkustomizecainjectionname"} {
		target := kubebuildersTarget(data, index)
		if strings.Contains(text, target) {
			continue
		}
		var err error
		if text, err = splice.BeforeMarker(text, marker, target); err != nil {
			return "", err
		}
		// The paragraph of the second index is set apart by the marker of the first alone.
		if index == 0 {
			before, after, _ := strings.Cut(text, "+kubebuilder:scaffold:"+marker+"\n")
			text = before + "+kubebuilder:scaffold:" + marker + "\n" + splice.Uncomment(after, "- source:")
		}
	}
	return text, nil
}

// kubebuildersTarget is the item that has a CRD annotated: index 0 with the namespace of the certificate, index 1 with its name.
func kubebuildersTarget(data *webhookData, index int) string {
	return fmt.Sprintf(`     - select:
         kind: CustomResourceDefinition
         name: %s
       fieldPaths:
         - .metadata.annotations.[cert-manager.io/inject-ca-from]
       options:
         delimiter: '/'
         index: %d
         create: true
`, data.CRD(), index)
}

// webhookConfig takes out what config has for webhooks, when there are none.
func (rm *removal) webhookConfig(data *webhookData) error {
	text, err := rm.set.Read(layout.DefaultKustomization)
	if err != nil {
		return err
	}
	if certificatesOf(rm.set) != byManager && strings.Contains(text, kubebuilderAny) {
		return replace(rm.set, layout.DefaultKustomization, disableKubebuilders(text, data))
	}
	for _, file := range []string{
		layout.WebhookKustomization, layout.WebhookManifests, "config/webhook/service.yaml",
		layout.CertManagerKustomization, "config/certmanager/kustomizeconfig.yaml", "config/certmanager/certificate.yaml",
		layout.ManagerWebhook, layout.AllowWebhook,
	} {
		if err := rm.set.Remove(file); err != nil {
			return err
		}
	}
	return firstError(
		rm.certificates(data),
		rm.edit(layout.DefaultKustomization, func(text string) (string, error) { return disableWebhooks(text, data) }),
		rm.item(layout.NetworkKustomization, "- allow-webhook-traffic.yaml"),
	)
}

// disableWebhooks takes out of config/default what enableWebhooks adds.
func disableWebhooks(text string, data *webhookData) (string, error) {
	if strings.Contains(text, kubebuilderAny) {
		return disableKubebuilders(text, data), nil
	}
	replacements, err := data.from().Render("webhook/replacements.yaml", data)
	if err != nil {
		return "", err
	}
	text = strings.Replace(text, replacements, "", 1)
	for _, item := range webhookItems {
		text = splice.RemoveItem(text, item.item)
	}
	text = splice.RemoveItem(text, certManagerItem)
	return splice.RemoveEmptyList(splice.RemoveEmptyList(text, "replacements"), "patches"), nil
}

// disableKubebuilders makes comments again of what webhooks need in Kubebuilder's config/default. The files that it names stay where they are.
func disableKubebuilders(text string, data *webhookData) string {
	for _, item := range webhookItems {
		text = splice.CommentItem(text, item.item)
	}
	text = splice.CommentItem(text, certManagerItem)
	for index := range 2 {
		text = strings.Replace(text, kubebuildersTarget(data, index), "", 1)
	}
	for _, phrase := range []string{kubebuilderAny, kubebuilderValidation, kubebuilderDefaulting, kubebuilderConversion} {
		text = splice.Comment(text, phrase)
	}
	before, after, _ := strings.Cut(text, "+kubebuilder:scaffold:crdkustomizecainjectionns\n")
	if after != "" {
		text = before + "+kubebuilder:scaffold:crdkustomizecainjectionns\n" + splice.Comment(after, "- source:")
	}
	return splice.CommentEmptyList(text, "replacements")
}
