package scaffold

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
)

// planConversion plans the conversions between the hub and its spokes. With Operon they are beside the webhooks, so that packages of types import nothing for it;
// with controller-runtime they are methods of the types.
func planConversion(set *fileset.Set, data *webhookData) error {
	for _, spoke := range data.spokes() {
		if data.Runtime.Path != origin.Library {
			if err := firstError(
				createMissing(set, data.ConversionFile(), "webhook/hub.go", data),
				createMissing(set, spoke.Spoke.ConversionFile(), "webhook/convertible.go", spoke),
			); err != nil {
				return err
			}
			continue
		}
		if err := createMissing(set, data.ConverterFile(), "webhook/conversion.go", data); err != nil {
			return err
		}
		if err := set.Edit(data.ConverterFile(), spoke.converter); err != nil {
			return err
		}
	}
	if err := markStorageVersion(set, data.subject); err != nil {
		return err
	}
	if err := firstError(
		createMissing(set, data.CRDPatchFile(), "webhook/crd_patch.yaml", data),
		createMissing(set, layout.CRDKustomizeConfig, "webhook/crd_kustomizeconfig.yaml", data),
		ensureItem(set, layout.CRDKustomization, "configurations", "- kustomizeconfig.yaml"),
	); err != nil {
		return err
	}
	return set.Edit(layout.CRDKustomization, func(text string) (string, error) {
		item := "- path: " + data.CRDPatch()
		if splice.HasItem(text, item) {
			return text, nil
		}
		if edited, err := splice.BeforeMarker(text, "crdkustomizewebhookpatch", item); err == nil {
			return edited, nil
		}
		return splice.EnsureItem(text, "patches", item)
	})
}

// spokes are the data for each of the versions that are converted to and from this one.
func (d *webhookData) spokes() []*webhookData {
	var spokes []*webhookData
	for _, version := range d.Webhooks.Spoke {
		r := d.project.Resource(d.Group, version, d.Kind)
		if r == nil { // taken out of PROJECT by hand
			r = &project.Resource{Group: d.Group, Domain: d.Domain, Version: version, Kind: d.Kind}
		}
		spokes = append(spokes, &webhookData{subject: d.subject, Spoke: layout.Of(d.project, r)})
	}
	return spokes
}

// ConverterFile is the file of the conversions, beside the webhooks.
func (d *webhookData) ConverterFile() string {
	return strings.TrimSuffix(d.WebhookFile(), "_webhook.go") + "_conversion.go"
}

// converter adds the conversions of a spoke, if they are not there.
func (d *webhookData) converter(src string) (string, error) {
	to, from := d.Var()+"To"+d.SpokeName(), d.Var()+"From"+d.SpokeName()
	if splice.Declares(src, to) {
		return src, nil
	}
	src, alias, err := splice.AddImport(src, d.Spoke.APIAlias(), d.Spoke.APIPath())
	if err != nil {
		return "", err
	}
	line := fmt.Sprintf("conversion.NewSpokeConverter(&%s.%s{}, %s, %s),", alias, d.Kind, to, from)
	if src, err = splice.BeforeMarker(src, "spokes", line); err != nil {
		return "", err
	}
	section, err := d.from().Render("webhook/spoke.go", d)
	if err != nil {
		return "", err
	}
	if src, _, err = splice.AddImport(src+"\n"+section, "context", "context"); err != nil {
		return "", err
	}
	return splice.Format(src)
}

// conversions is the file of the conversions as create webhook makes it.
func (d *webhookData) conversions() (string, error) {
	src, err := d.from().Render("webhook/conversion.go", d)
	for _, spoke := range d.spokes() {
		if err != nil {
			return "", err
		}
		src, err = spoke.converter(src)
	}
	return src, err
}

// SpokeName is the other version in the names of functions.
func (d *webhookData) SpokeName() string {
	return strings.ToUpper(d.Spoke.Version[:1]) + d.Spoke.Version[1:]
}
