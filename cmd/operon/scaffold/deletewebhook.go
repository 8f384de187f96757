package scaffold

import (
	"fmt"
	"slices"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
)

// deleteWebhook plans to take the webhooks of a kind out.
func deleteWebhook(p *project.Project, opts deleteOptions) (*removal, error) {
	if err := opts.gvk.check(); err != nil {
		return nil, err
	}
	r := p.Resource(opts.group, opts.version, opts.kind)
	if r == nil || r.Webhooks.Empty() {
		return nil, fmt.Errorf("%s has no webhooks in the project: PROJECT lists what has", opts.gvk)
	}
	rm := &removal{set: fileset.New(p.Root(), true), force: opts.force}
	s, err := subjectOf(rm.set, p, r)
	if err != nil {
		return nil, err
	}
	data := &webhookData{subject: s}
	if err := rm.admission(data); err != nil {
		return nil, err
	}
	if r.Webhooks.Conversion {
		if err := rm.conversion(data); err != nil {
			return nil, err
		}
	}
	main, err := mainFile(rm.set)
	if err != nil {
		return nil, err
	}
	if err := rm.unwire(main, s.WebhookPath(), data.Setup()+"("); err != nil {
		return nil, err
	}
	r.Webhooks = nil
	if r.API == nil && len(r.ControllerNames()) == 0 {
		p.Remove(r)
		if err := rm.scheme(s); err != nil {
			return nil, err
		}
	}
	admits := func(r *project.Resource) bool {
		return r.Webhooks != nil && (r.Webhooks.Defaulting || r.Webhooks.Validation)
	}
	switch {
	case !p.HasWebhooks():
		err = rm.webhookConfig(data)
	case !slices.ContainsFunc(p.Resources, admits) && !slices.Contains(rm.kept, data.WebhookFile()):
		err = firstError(rm.set.Remove(layout.WebhookManifests), rm.item(layout.WebhookKustomization, "- manifests.yaml"))
	}
	if err != nil {
		return nil, err
	}
	return rm, saveProject(rm.set, p)
}

// admission takes out the code of webhooks and its test.
func (rm *removal) admission(data *webhookData) error {
	made, err := data.inAnyOrder(data.source)
	if err != nil {
		return err
	}
	gone, err := rm.unchanged(data.WebhookFile(), made...)
	if err != nil {
		return err
	}
	tests, err := data.inAnyOrder(data.test)
	if err != nil {
		return err
	}
	if !gone {
		return nil
	}
	if gone, err = rm.unchanged(data.WebhookTest(), tests...); err == nil && !gone {
		err = fmt.Errorf("%s was changed, and tests webhooks that would go: --force removes it too", data.WebhookTest())
	}
	return err
}

// conversion takes out the code of conversions, and the patch that turns them on.
func (rm *removal) conversion(data *webhookData) error {
	if _, err := rm.file(data.ConversionFile(), "webhook/hub.go", data); err != nil {
		return err
	}
	for _, spoke := range data.spokes() {
		if _, err := rm.file(spoke.Spoke.ConversionFile(), "webhook/convertible.go", spoke); err != nil {
			return err
		}
	}
	made, err := data.conversions()
	if err != nil {
		return err
	}
	// A file of webhooks that stays needs the conversions.
	if !slices.Contains(rm.kept, data.WebhookFile()) {
		if _, err := rm.unchanged(data.ConverterFile(), made); err != nil {
			return err
		}
	}
	err = firstError(
		rm.set.Remove(data.CRDPatchFile()),
		rm.item(layout.CRDKustomization, "- path: "+data.CRDPatch()),
	)
	if err != nil || slices.ContainsFunc(data.project.Resources, func(r *project.Resource) bool {
		return r != data.Resource && r.Webhooks != nil && r.Webhooks.Conversion
	}) {
		return err
	}
	return firstError(
		rm.set.Remove(layout.CRDKustomizeConfig),
		rm.edit(layout.CRDKustomization, func(text string) (string, error) {
			return splice.RemoveEmptyList(splice.RemoveItem(text, "- kustomizeconfig.yaml"), "configurations"), nil
		}),
	)
}

// inAnyOrder are what create webhook may have made of a file, by one call or by several: in each order of the kinds of webhooks.
func (d *webhookData) inAnyOrder(edit func(src string) (string, error)) ([]string, error) {
	whole := d.Webhooks
	defer func() { d.Webhooks = whole }()
	var all []string
	var add func(had project.Webhooks, src string) error
	add = func(had project.Webhooks, src string) error {
		last := true
		for _, one := range []struct {
			wanted bool
			has    func(*project.Webhooks) *bool
		}{
			{whole.Defaulting, func(w *project.Webhooks) *bool { return &w.Defaulting }},
			{whole.Validation, func(w *project.Webhooks) *bool { return &w.Validation }},
			{whole.Conversion, func(w *project.Webhooks) *bool { return &w.Conversion }},
		} {
			has := had
			if !one.wanted || *one.has(&has) {
				continue
			}
			last = false
			*one.has(&has) = true
			d.Webhooks = &has
			edited, err := edit(src)
			if err == nil {
				err = add(has, edited)
			}
			if err != nil {
				return err
			}
		}
		if last {
			all = append(all, src)
		}
		return nil
	}
	none := *whole
	none.Defaulting, none.Validation, none.Conversion = false, false, false
	err := add(none, "")
	return all, err
}
