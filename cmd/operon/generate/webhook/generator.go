package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

const apiVersion = "admissionregistration.k8s.io/v1"

// FileName is the name of the generated file.
const FileName = "manifests.yaml"

// Generator generates webhook configurations. Its zero value generates them without a header.
type Generator struct {
	// HeaderFile is the path of a file whose text is put at the head of the generated file.
	HeaderFile string `marker:",optional"`
	// Year replaces " YEAR" in the header's text.
	Year string `marker:",optional"`
}

// Help describes the generator and its options.
func Help() marker.Help {
	return marker.Help{
		Summary: "writes the MutatingWebhookConfiguration and the ValidatingWebhookConfiguration, without what only the cluster knows.",
		Fields: map[string]string{
			"HeaderFile": generate.HeaderFileHelp,
			"Year":       generate.YearHelp,
		},
	}
}

// Generate returns one file with both configurations, or nothing if no package has a webhook.
func (g Generator) Generate(ctx context.Context, in *generate.Input) ([]generate.Artifact, error) {
	names := map[bool]string{}
	hooks := map[bool][]entry{}
	seen := map[bool]map[string]bool{true: {}, false: {}}
	for _, pkg := range in.Roots {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !pkg.Mentions("+" + hookMarker) {
			continue
		}
		for _, o := range in.Markers.Occurrences(pkg, configurationMarker) {
			c := o.Value.(Configuration)
			if c.Name == "" {
				continue
			}
			if names[c.Mutating] != "" {
				pos, length := o.Argument("name")
				in.Mistakes.Add(diag.Mistake{Pos: pos, Len: length, What: fmt.Sprintf("a second name for the configuration of the %s webhooks, %q", sort(c.Mutating), c.Name),
					Fix: fmt.Sprintf("all %s webhooks are in one configuration: keep one of the markers", sort(c.Mutating))})
			}
			names[c.Mutating] = c.Name
		}
		for _, o := range in.Markers.Occurrences(pkg, hookMarker) {
			h := o.Value.(Hook)
			c := &checker{at: o, mistakes: in.Mistakes}
			e := h.entry(c)
			c.check(e)
			if seen[h.Mutating][e.Name] {
				c.reportItem("name", e.Name, fmt.Sprintf("a second %s webhook named %q, which the API server refuses", sort(h.Mutating), e.Name), "give it a name of its own")
			}
			seen[h.Mutating][e.Name] = true
			hooks[h.Mutating] = append(hooks[h.Mutating], e)
		}
	}
	var objects []any
	for _, mutating := range []bool{true, false} {
		if len(hooks[mutating]) == 0 {
			continue
		}
		kind := "ValidatingWebhookConfiguration"
		if mutating {
			kind = "MutatingWebhookConfiguration"
		}
		slices.SortStableFunc(hooks[mutating], func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
		objects = append(objects, configuration{
			APIVersion: apiVersion,
			Kind:       kind,
			Metadata:   metadata{Name: cmp.Or(names[mutating], sort(mutating)+"-webhook-configuration")},
			Webhooks:   hooks[mutating],
		})
	}
	if len(objects) == 0 {
		return nil, nil
	}
	header, err := generate.Header(g.HeaderFile, g.Year)
	if err != nil {
		return nil, err
	}
	data, err := generate.YAML(header, objects...)
	if err != nil {
		return nil, err
	}
	return []generate.Artifact{{Name: FileName, Data: data}}, nil
}

func sort(mutating bool) string {
	if mutating {
		return "mutating"
	}
	return "validating"
}

// entry turns a marker into a webhook, and applies its patch.
func (h Hook) entry(c *checker) entry {
	groups := slices.Clone(h.Groups)
	for i, group := range groups {
		if group == "core" {
			groups[i] = ""
		}
	}
	operations := make([]string, len(h.Verbs))
	for i, verb := range h.Verbs {
		operations[i] = c.oneOf("verbs", verb, "CREATE", "UPDATE", "DELETE", "CONNECT", "*")
	}
	failurePolicy := c.oneOf("failurePolicy", h.FailurePolicy, "Fail", "Ignore")
	e := entry{
		Name:                    h.Name,
		Rules:                   []rule{{Operations: operations, APIGroups: groups, APIVersions: h.Versions, Resources: h.Resources}},
		FailurePolicy:           &failurePolicy,
		AdmissionReviewVersions: h.AdmissionReviewVersions,
	}
	if h.MatchPolicy != "" {
		policy := c.oneOf("matchPolicy", h.MatchPolicy, "Exact", "Equivalent")
		e.MatchPolicy = &policy
	}
	if h.SideEffects != "" {
		effects := c.oneOf("sideEffects", h.SideEffects, "None", "NoneOnDryRun", "Some", "Unknown")
		e.SideEffects = &effects
	}
	if h.TimeoutSeconds != nil {
		seconds := *h.TimeoutSeconds
		e.TimeoutSeconds = &seconds
	}
	if h.ReinvocationPolicy != "" {
		policy := c.oneOf("reinvocationPolicy", h.ReinvocationPolicy, "Never", "IfNeeded")
		if h.Mutating {
			e.ReinvocationPolicy = &policy
		}
	}
	switch {
	case (h.Path == "") == (h.URL == ""):
		c.reportItem("url", "", "a webhook is either behind a service or at a URL", "give path= or url=, and not both")
	case h.URL != "":
		url := h.URL
		e.ClientConfig.URL = &url
	default:
		path := h.Path
		e.ClientConfig.Service = &service{
			Name:      cmp.Or(h.ServiceName, "webhook-service"),
			Namespace: cmp.Or(h.ServiceNamespace, "system"),
			Path:      &path,
			Port:      h.ServicePort,
		}
	}
	for _, version := range h.WebhookVersions {
		if version != "v1" {
			c.reportItem("webhookVersions", version, fmt.Sprintf("webhookVersions=%s is not supported", version), "write v1, or leave it out")
		}
	}
	if h.Patch != "" {
		patched, err := patched(e, h.Patch)
		if err != nil {
			c.reportItem("patch", "", "the patch does not apply: "+err.Error(), "write a JSON object with fields of a "+sort(h.Mutating)+" webhook")
			return e
		}
		if !h.Mutating && patched.ReinvocationPolicy != nil {
			c.reportItem("patch", "", "a validating webhook has no reinvocationPolicy", "leave it out of the patch")
		}
		e = patched
	}
	return e
}

// patched returns the webhook with the patch applied.
func patched(e entry, patch string) (entry, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(patch), &fields); err != nil {
		return entry{}, err
	}
	data, err := json.Marshal(e)
	if err != nil {
		return entry{}, err
	}
	var target map[string]json.RawMessage
	if err := json.Unmarshal(data, &target); err != nil {
		return entry{}, err
	}
	if err := merge(target, fields); err != nil {
		return entry{}, err
	}
	if data, err = json.Marshal(target); err != nil {
		return entry{}, err
	}
	var result entry
	unknown, err := kjson.UnmarshalStrict(data, &result, kjson.DisallowUnknownFields)
	if err != nil {
		return entry{}, err
	}
	if len(unknown) > 0 {
		return entry{}, unknown[0]
	}
	return result, nil
}
