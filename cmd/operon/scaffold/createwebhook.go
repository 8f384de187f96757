package scaffold

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
)

// webhookOptions are what "operon create webhook" takes.
type webhookOptions struct {
	gvk
	external externalAPI
	plural   string

	defaulting, validation, conversion bool
	defaultingPath, validationPath     string
	spokes                             []string
	// certificates is who makes the webhooks' certificate. Empty: as the project has it, or else cert-manager.
	certificates string
	force        bool
	// templates are what the files are made from.
	templates templates.Set
}

// webhookData is what the templates of webhooks are filled in with.
type webhookData struct {
	*subject
	// Spoke is the other version that a conversion is about.
	Spoke layout.Names
	// ManagerMakes says that the manager makes the certificate, and not cert-manager.
	ManagerMakes bool
}

// Setup is the function that has a manager serve the webhooks.
func (d *webhookData) Setup() string { return "Setup" + d.Kind + "WebhookWithManager" }

// MarkerName is the middle of a webhook's name.
func (d *webhookData) MarkerName() string { return d.Lower() + "-" + d.Version }

// DefaultingPath is where the defaulting webhook is served.
func (d *webhookData) DefaultingPath() string {
	if w := d.Webhooks; w != nil && w.DefaultingPath != "" {
		return w.DefaultingPath
	}
	return d.AdmissionPath("mutate")
}

// ValidationPath is where the validating webhook is served.
func (d *webhookData) ValidationPath() string {
	if w := d.Webhooks; w != nil && w.ValidationPath != "" {
		return w.ValidationPath
	}
	return d.AdmissionPath("validate")
}

func (o webhookOptions) check() error {
	if err := firstError(o.gvk.check(), layout.CheckPlural(o.plural), o.external.check(), checkCertificates(o.certificates)); err != nil {
		return err
	}
	switch {
	case !o.defaulting && !o.validation && !o.conversion:
		return errors.New("no webhook was asked for: say which, with --defaulting, --programmatic-validation or --conversion")
	case o.defaultingPath != "" && !o.defaulting:
		return errors.New("--defaulting-path is where the defaulting webhook is served: give --defaulting too")
	case o.validationPath != "" && !o.validation:
		return errors.New("--validation-path is where the validating webhook is served: give --programmatic-validation too")
	case len(o.spokes) > 0 && !o.conversion:
		return errors.New("--spoke names versions to convert: give --conversion too")
	case o.conversion && len(o.spokes) == 0:
		return errors.New("--conversion needs the versions to convert to and from the one of --version: name them with --spoke")
	}
	for _, path := range []string{o.defaultingPath, o.validationPath} {
		if path != "" && (!strings.HasPrefix(path, "/") || strings.ContainsAny(path, " ,\"")) {
			return fmt.Errorf("%q is not the path of a URL: begin it with a slash, as in /mutate-cache", path)
		}
	}
	return nil
}

// createWebhook plans the webhooks of a kind. What is there already stays as it is.
func createWebhook(p *project.Project, opts webhookOptions) (*fileset.Set, *project.Resource, error) {
	if err := opts.check(); err != nil {
		return nil, nil, err
	}
	r, known := resolve(p, opts.gvk, opts.external, false)
	names := layout.Of(p, r)
	if names.Own() && r.API == nil {
		return nil, nil, fmt.Errorf("%s is not a kind of this project: create it first, with operon create api", opts.gvk)
	}
	if !known && opts.plural != "" {
		r.Plural = opts.plural
	}
	w := r.Webhooks
	if w == nil {
		w = &project.Webhooks{}
	}
	newSpokes := slices.DeleteFunc(slices.Clone(opts.spokes), func(v string) bool { return slices.Contains(w.Spoke, v) })
	for _, version := range newSpokes {
		spoke := p.Resource(r.Group, version, r.Kind)
		if version == r.Version || spoke == nil || spoke.API == nil {
			return nil, nil, fmt.Errorf("--spoke %s is not another version of %s in this project: create it first, with operon create api", version, r.Kind)
		}
	}
	for _, other := range p.Versions(r.Group, r.Kind) {
		if other != r && opts.conversion && other.Webhooks != nil && other.Webhooks.Conversion {
			return nil, nil, fmt.Errorf("version %s of %s is the hub of its conversions already: add spokes to that one", other.Version, r.Kind)
		}
	}
	// Nothing that is there is replaced, whatever --force says.
	set := fileset.New(p.Root(), false)
	s, err := subjectOf(set, p, r)
	if err != nil {
		return nil, nil, err
	}
	s.templates = opts.templates
	certificates, err := chooseCertificates(set, s.Runtime.Path, opts.certificates)
	if err != nil {
		return nil, nil, err
	}
	isNew := opts.defaulting && !w.Defaulting || opts.validation && !w.Validation || opts.conversion && (!w.Conversion || len(newSpokes) > 0)
	if !isNew && !opts.force {
		return nil, nil, fmt.Errorf("%s has these webhooks already: --force adds what is missing of them, and overwrites nothing", opts.gvk)
	}

	w.Defaulting, w.Validation, w.Conversion = w.Defaulting || opts.defaulting, w.Validation || opts.validation, w.Conversion || opts.conversion
	w.DefaultingPath, w.ValidationPath = or(w.DefaultingPath, opts.defaultingPath), or(w.ValidationPath, opts.validationPath)
	w.Spoke, w.WebhookVersion = append(w.Spoke, newSpokes...), "v1"
	r.Webhooks = w
	if !known {
		p.Add(r)
	}
	data := &webhookData{subject: s, ManagerMakes: certificates == byManager}
	if opts.conversion {
		if err := planConversion(set, data); err != nil {
			return nil, nil, err
		}
	}
	return set, r, firstError(
		planAdmission(set, data),
		planWebhookConfig(set, data),
		wireScheme(set, s),
		wireWebhook(set, data),
		saveProject(set, p),
	)
}

func or(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

// planAdmission plans the file of the webhooks, and that of their test.
func planAdmission(set *fileset.Set, data *webhookData) error {
	for _, file := range []struct {
		path string
		edit func(string) (string, error)
	}{{data.WebhookFile(), data.source}, {data.WebhookTest(), data.test}} {
		text, err := readIfThere(set, file.path)
		if err != nil {
			return err
		}
		edited, err := file.edit(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file.path, err)
		}
		if edited == "" {
			continue
		}
		if err := replace(set, file.path, edited); err != nil {
			return err
		}
	}
	return nil
}

// source adds to the file of the webhooks what it lacks. An empty one is begun.
func (d *webhookData) source(src string) (string, error) {
	var err error
	if src == "" {
		if src, err = d.from().Render("webhook/webhook.go", d); err != nil {
			return "", err
		}
	}
	admission := func(template, kind, link, path string) error {
		if splice.Declares(src, kind) {
			return nil
		}
		section, err := d.from().Render(template, d)
		if err != nil {
			return err
		}
		imports := [][2]string{{"context", "context"}}
		if strings.Contains(section, "admission.Warnings") {
			imports = append(imports, [2]string{"admission", d.Runtime.Path + "/pkg/webhook/admission"})
		}
		if !d.Typed {
			imports = append(imports, [2]string{"fmt", "fmt"}, [2]string{"runtime", "k8s.io/apimachinery/pkg/runtime"})
		}
		src += "\n" + section
		for _, i := range imports {
			if src, _, err = splice.AddImport(src, i[0], i[1]); err != nil {
				return err
			}
		}
		if src, err = splice.AddToChain(src, d.Setup(), link+"(&"+kind+"{})"); err == nil && path != "" {
			src, err = splice.AddToChain(src, d.Setup(), fmt.Sprintf("%sCustomPath(%q)", link, path))
		}
		return err
	}
	if d.Webhooks.Defaulting {
		if err := admission("webhook/defaulter.go", d.Kind+"CustomDefaulter", "WithDefaulter", d.Webhooks.DefaultingPath); err != nil {
			return "", err
		}
	}
	if d.Webhooks.Validation {
		if err := admission("webhook/validator.go", d.Kind+"CustomValidator", "WithValidator", d.Webhooks.ValidationPath); err != nil {
			return "", err
		}
	}
	if d.Webhooks.Conversion && d.Runtime.Path == origin.Library {
		return splice.AddToChain(src, d.Setup(), "WithConverter("+d.Var()+"Converter)")
	}
	return src, nil
}

// test adds to the file of the webhooks' test what it lacks. An empty one is begun, if there is something to test.
func (d *webhookData) test(src string) (string, error) {
	var err error
	for _, part := range []struct {
		wanted             bool
		template, function string
	}{
		{d.Webhooks.Defaulting, "webhook/defaulter_test.go", "Test" + d.Kind + "Defaults"},
		{d.Webhooks.Validation, "webhook/validator_test.go", "Test" + d.Kind + "Validation"},
	} {
		// Kubebuilder's tests are of another form, and there they stay alone.
		if !part.wanted || splice.Declares(src, part.function) || strings.Contains(src, "ginkgo") {
			continue
		}
		if src == "" {
			if src, err = d.from().Render("webhook/webhook_test.go", d); err != nil {
				return "", err
			}
		}
		section, err := d.from().Render(part.template, d)
		if err != nil {
			return "", err
		}
		src += "\n" + section
	}
	if src == "" {
		return "", nil
	}
	return splice.Format(src)
}

// createMissing plans a file from a template, unless it is there.
func createMissing(set *fileset.Set, path, template string, data filling) error {
	if set.Exists(path) {
		return nil
	}
	return create(set, path, template, data)
}
