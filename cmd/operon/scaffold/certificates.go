package scaffold

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
)

// The values of --certificates: who makes the certificate of a project's webhooks.
const (
	byCertManager = "cert-manager"
	byManager     = "manager"
)

func checkCertificates(value string) error {
	if !slices.Contains([]string{"", byCertManager, byManager}, value) {
		return fmt.Errorf("--certificates %q is not known: take %s, or %s for the manager itself", value, byCertManager, byManager)
	}
	return nil
}

// certificatesOption is where a manager's options say that it makes the certificate.
var certificatesOption = regexp.MustCompile(`(?m)^[^/\n]*\bWebhookCertificates\b`)

// certificatesOf is who makes the certificate of a project's webhooks, or "" as long as that is open. The files tell: PROJECT has no room for it.
func certificatesOf(set *fileset.Set) string {
	if main, err := mainFile(set); err == nil {
		if src, err := set.Read(main); err == nil && certificatesOption.MatchString(src) {
			return byManager
		}
	}
	if set.Exists(layout.WebhookKustomization) {
		return byCertManager
	}
	return ""
}

// chooseCertificates settles who makes the certificate: as the project has it, as was asked for, or cert-manager.
func chooseCertificates(set *fileset.Set, runtime, asked string) (string, error) {
	have := certificatesOf(set)
	switch {
	case asked == byManager && runtime != origin.Library:
		return "", fmt.Errorf("--certificates manager needs a manager of Operon, and the project is on %s: leave it out, or move the project with operon migrate", runtime)
	case have != "" && asked != "" && have != asked:
		return "", fmt.Errorf("the project's webhooks are set up for --certificates %s: leave the flag out, or take them all out with operon delete webhook and create them again, which keeps what you wrote in them", have)
	case have != "":
		return have, nil
	case asked != "":
		return asked, nil
	}
	return byCertManager, nil
}

const (
	certificatesTemplate = "main/certificates"
	certificatesField    = "WebhookCertificates: webhookCertificates()"
	certificatesFunction = "webhookCertificates"
)

func certificatesPackage(runtime string) string { return runtime + "/pkg/webhook/certificates" }

// wireCertificates has the manager make the certificate, and allows it to.
func wireCertificates(set *fileset.Set, data *webhookData) error {
	main, err := mainFile(set)
	if err != nil {
		return err
	}
	return firstError(
		createMissing(set, layout.CertificatesRole, "webhook/certificates_role.yaml", data),
		ensureItem(set, layout.RBACKustomization, "resources", "- "+strings.TrimPrefix(layout.CertificatesRole, "config/rbac/")),
		set.Edit(main, func(src string) (string, error) {
			var err error
			if !certificatesOption.MatchString(src) {
				if src, err = splice.AddField(src, "NewManager", certificatesField); err != nil {
					return "", err
				}
			}
			if !strings.Contains(src, certificatesFunction+"()") || splice.Declares(src, certificatesFunction) {
				return src, nil
			}
			src, name, err := splice.AddImportToGroup(src, "certificates", certificatesPackage(data.Runtime.Path))
			if err != nil {
				return "", err
			}
			function, err := data.from().Render(certificatesTemplate, wiring[*webhookData]{data, name})
			return src + "\n" + function, err
		}),
	)
}

// certificates takes out what has the manager make the certificate. A function for it that a person has changed stays, without being called.
func (rm *removal) certificates(data *webhookData) error {
	main, err := mainFile(rm.set)
	if err != nil {
		return err
	}
	gone, err := rm.file(layout.CertificatesRole, "webhook/certificates_role.yaml", data)
	if err == nil && gone {
		err = rm.item(layout.RBACKustomization, "- "+strings.TrimPrefix(layout.CertificatesRole, "config/rbac/"))
	}
	if err != nil {
		return err
	}
	return rm.edit(main, func(src string) (string, error) {
		path := certificatesPackage(data.Runtime.Path)
		name, ok := splice.ImportName(src, path)
		if !ok {
			return src, nil
		}
		function, err := data.from().Render(certificatesTemplate, wiring[*webhookData]{data, name})
		if err != nil {
			return "", err
		}
		if src, err = splice.RemoveField(strings.Replace(src, "\n"+function, "", 1), certificatesField); err != nil {
			return "", err
		}
		return splice.RemoveUnusedImport(src, path)
	})
}
