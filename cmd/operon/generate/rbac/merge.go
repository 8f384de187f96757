package rbac

import (
	"slices"
	"strings"
)

// grant is a rule of a role.
type grant struct {
	Groups        []string `json:"apiGroups,omitempty"`
	URLs          []string `json:"nonResourceURLs,omitempty"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	Resources     []string `json:"resources,omitempty"`
	Verbs         []string `json:"verbs"`
}

// merge makes of the markers' rules the fewest grants that say the same. The order of the steps decides which of several
// equivalent results comes out: rules are taken apart by resource, so that verbs meet, and then put together again by
// resources, by groups and by URLs.
func merge(rules []Rule) []grant {
	var grants []grant
	for _, r := range rules {
		g := grant{Groups: set(groupNames(r.Groups)), URLs: set(r.URLs), ResourceNames: set(r.ResourceNames), Resources: set(r.Resources), Verbs: set(r.Verbs)}
		if len(g.Resources) == 0 {
			grants = append(grants, g)
			continue
		}
		for _, resource := range g.Resources {
			one := g
			one.Resources = []string{resource}
			grants = append(grants, one)
		}
	}
	for _, field := range []func(*grant) *[]string{verbs, resources, groups, urls} {
		grants = join(grants, field)
	}
	for i := range grants {
		if slices.Contains(grants[i].Verbs, "*") {
			grants[i].Verbs = []string{"*"}
		}
	}
	slices.SortStableFunc(grants, func(a, b grant) int { return strings.Compare(a.target(), b.target()) })
	return grants
}

func verbs(g *grant) *[]string     { return &g.Verbs }
func resources(g *grant) *[]string { return &g.Resources }
func groups(g *grant) *[]string    { return &g.Groups }
func urls(g *grant) *[]string      { return &g.URLs }

// join unites grants that differ in one field only.
func join(grants []grant, field func(*grant) *[]string) []grant {
	var joined []grant
	at := map[string]int{}
	for _, g := range grants {
		other := g
		*field(&other) = nil
		key := other.target() + " + " + strings.Join(other.Verbs, "&")
		i, ok := at[key]
		if !ok {
			at[key] = len(joined)
			joined = append(joined, g)
			continue
		}
		*field(&joined[i]) = set(slices.Concat(*field(&joined[i]), *field(&g)))
	}
	return joined
}

// target is what a grant is about, in a form that sorts.
func (g grant) target() string {
	return strings.Join(g.Groups, "&") + " + " + strings.Join(g.Resources, "&") + " + " +
		strings.Join(g.ResourceNames, "&") + " + " + strings.Join(g.URLs, "&")
}

// groupNames returns the groups as the API writes them: "core" is a way to say "".
func groupNames(groups []string) []string {
	names := slices.Clone(groups)
	for i, group := range names {
		if group == "core" {
			names[i] = ""
		}
	}
	return names
}

// set returns the values sorted, each once.
func set(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}
