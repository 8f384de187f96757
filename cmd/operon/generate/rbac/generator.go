package rbac

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

const apiVersion = "rbac.authorization.k8s.io/v1"

// Generator generates roles.
type Generator struct {
	// RoleName is the name of the ClusterRole, and of Roles whose rules name none.
	RoleName string
	// FileName is the name of the file. Empty means role.yaml.
	FileName string `marker:",optional"`
	// HeaderFile is the path of a file whose text is put at the head of the generated file.
	HeaderFile string `marker:",optional"`
	// Year replaces " YEAR" in the header's text.
	Year string `marker:",optional"`
	// BindTo is the service account, as namespace/name, that every namespaced Role is bound to by a RoleBinding beside it.
	// Empty means that no RoleBindings are written.
	BindTo string `marker:",optional"`
}

// Help describes the generator and its options.
func Help() marker.Help {
	return marker.Help{
		Summary: "writes ClusterRoles, and Roles for rules with a namespace.",
		Fields: map[string]string{
			"RoleName":   "is the name of the roles.",
			"FileName":   `is the name of the file; role.yaml unless said otherwise.`,
			"HeaderFile": generate.HeaderFileHelp,
			"Year":       generate.YearHelp,
			"BindTo":     "names a service account, as namespace/name, and writes a RoleBinding to it beside every namespaced Role (not in controller-gen).",
		},
	}
}

// Generate returns one file with all roles, or nothing if no package asks for a permission.
func (g Generator) Generate(ctx context.Context, in *generate.Input) ([]generate.Artifact, error) {
	subject, err := g.subject()
	if err != nil {
		return nil, err
	}
	rules := map[roleKey][]Rule{}
	for _, pkg := range in.Roots {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !pkg.Mentions("+" + ruleMarker) {
			continue
		}
		for _, o := range in.Markers.Occurrences(pkg, ruleMarker) {
			rule := o.Value.(Rule)
			check(rule, o, in.Mistakes)
			key := roleKey{namespace: rule.Namespace, name: cmp.Or(rule.RoleName, g.RoleName)}
			rules[key] = append(rules[key], rule)
		}
	}
	if len(rules) == 0 {
		return nil, nil
	}
	header, err := generate.Header(g.HeaderFile, g.Year)
	if err != nil {
		return nil, err
	}
	data, err := generate.YAML(header, objects(rules, subject)...)
	if err != nil {
		return nil, err
	}
	return []generate.Artifact{{Name: cmp.Or(g.FileName, "role.yaml"), Data: data}}, nil
}

// subject returns the service account to bind to, or nil.
func (g Generator) subject() (*subject, error) {
	if g.BindTo == "" {
		return nil, nil
	}
	namespace, name, ok := strings.Cut(g.BindTo, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("rbac: bindTo=%s is not a service account: write namespace/name, such as system/controller-manager", g.BindTo)
	}
	return &subject{Kind: "ServiceAccount", Name: name, Namespace: namespace}, nil
}

// roleKey tells roles apart.
type roleKey struct{ namespace, name string }

type metadata struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

type role struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Rules      []grant  `json:"rules"`
}

type binding struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Metadata   metadata  `json:"metadata"`
	RoleRef    roleRef   `json:"roleRef"`
	Subjects   []subject `json:"subjects"`
}

type roleRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

type subject struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// objects returns the ClusterRoles by name, then the Roles by namespace and name, then the bindings of those.
func objects(rules map[roleKey][]Rule, to *subject) []any {
	keys := make([]roleKey, 0, len(rules))
	for key := range rules {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b roleKey) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
	var roles, bindings []any
	for _, key := range keys {
		kind := "ClusterRole"
		if key.namespace != "" {
			kind = "Role"
		}
		meta := metadata{Name: key.name, Namespace: key.namespace}
		roles = append(roles, role{APIVersion: apiVersion, Kind: kind, Metadata: meta, Rules: merge(rules[key])})
		if to == nil || key.namespace == "" {
			continue
		}
		group, _, _ := strings.Cut(apiVersion, "/")
		bindings = append(bindings, binding{
			APIVersion: apiVersion,
			Kind:       "RoleBinding",
			Metadata:   metadata{Name: bindingName(key.name), Namespace: key.namespace},
			RoleRef:    roleRef{APIGroup: group, Kind: kind, Name: key.name},
			Subjects:   []subject{*to},
		})
	}
	return append(roles, bindings...)
}

// bindingName follows the habit of scaffolded projects: manager-role is bound by manager-rolebinding.
func bindingName(role string) string {
	if strings.HasSuffix(role, "role") {
		return role + "binding"
	}
	return role + "-rolebinding"
}
