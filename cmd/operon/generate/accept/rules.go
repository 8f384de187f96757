package accept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/operon-dev/operon/cmd/operon/generate"
)

// What rules may cost, by the API server's estimate: one of them, and all of a version together.
const (
	maxRuleCost    = 10_000_000
	maxVersionCost = 100_000_000
)

// Rules tells, of each of the definitions in JSON, whether all its rules are right for sure. What definitions have in common is looked at
// once.
func Rules(ctx context.Context, definitions [][]byte) ([]bool, error) {
	var environment *compiler
	all := make([][]*version, len(definitions))
	failed := make([]error, len(definitions)+1)
	generate.Each(len(failed), func(i int) {
		if i == 0 {
			environment, failed[i] = newEnvironment()
		} else {
			all[i-1], failed[i] = versions(definitions[i-1])
		}
	})
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	generate.Each(environment.share(all), func(i int) {
		if ctx.Err() == nil {
			environment.shared[i].compile(environment)
		}
	})
	accepted := make([]bool, len(definitions))
	for i, versions := range all {
		accepted[i] = true
		for _, v := range versions {
			accepted[i] = accepted[i] && v.fine() && v.defaultsHold(ctx)
		}
	}
	return accepted, ctx.Err()
}

// versions reads those of a definition.
func versions(data []byte) ([]*version, error) {
	roots, err := roots(data)
	if err != nil {
		return nil, err
	}
	var all []*version
	for _, root := range roots {
		v := &version{}
		v.visit(root, scope{root: true, times: 1}, nil)
		all = append(all, v)
	}
	return all, nil
}

// roots returns the schemas of a definition's versions.
func roots(data []byte) ([]*schema.Structural, error) {
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema v1.CustomResourceValidation `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &definition); err != nil {
		return nil, fmt.Errorf("definition: %w", err)
	}
	var out []*schema.Structural
	for _, version := range definition.Spec.Versions {
		var internal apiextensions.JSONSchemaProps
		if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		root, err := schema.NewStructural(&internal)
		if err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		out = append(out, root)
	}
	return out, nil
}

// version is what there is of rules in a version's schema.
type version struct{ places []place }

// place is a schema with rules, at one place of a version, with the values that it gets from defaults there and further up.
type place struct {
	*compilation
	key
	scope
	values []any
}

// scope is what the schemas around a schema make of it.
type scope struct {
	// root tells the schema of an object with metadata.
	root bool
	// times is how many values there are in an object at most; 0 is for no bound.
	times uint64
	// unrelated tells that a value has no former one, because it is in a list whose elements are not told apart.
	unrelated bool
}

// visit gathers the schemas with rules in and below a schema.
func (v *version) visit(s *schema.Structural, at scope, values []any) {
	if s.Default.Object != nil {
		values = append(slices.Clip(values), s.Default.Object)
	}
	if len(s.XValidations) > 0 {
		runs := slices.ContainsFunc(values, func(value any) bool { return value != nil })
		v.places = append(v.places, place{&compilation{schema: s, root: at.root, runs: runs}, newKey(s, at.root), at, values})
	}
	for name, property := range s.Properties {
		inner := at
		inner.root = property.XEmbeddedResource
		v.visit(&property, inner, parts(values, func(entries map[string]any) []any {
			if entry, ok := entries[name]; ok {
				return []any{entry}
			}
			return nil
		}))
	}
	if s.Items != nil {
		inner := at
		inner.root, inner.times = s.Items.XEmbeddedResource, at.multiplied(s.ValueValidation, func(b *schema.ValueValidation) *int64 { return b.MaxItems })
		inner.unrelated = at.unrelated || s.XListType == nil || *s.XListType != "map"
		v.visit(s.Items, inner, parts(values, func(list []any) []any { return list }))
	}
	if more := s.AdditionalProperties; more != nil && more.Structural != nil {
		inner := at
		inner.root, inner.times = more.Structural.XEmbeddedResource, at.multiplied(s.ValueValidation, func(b *schema.ValueValidation) *int64 { return b.MaxProperties })
		v.visit(more.Structural, inner, parts(values, func(entries map[string]any) []any { return slices.Collect(maps.Values(entries)) }))
	}
}

// parts are the values within values of a kind.
func parts[T any](values []any, within func(T) []any) []any {
	var out []any
	for _, value := range values {
		if v, ok := value.(T); ok {
			out = append(out, within(v)...)
		}
	}
	return out
}

// multiplied is how many values there are in as many lists or maps with this bound.
func (at scope) multiplied(bounds *schema.ValueValidation, bound func(*schema.ValueValidation) *int64) uint64 {
	if bounds == nil || at.times == 0 {
		return 0
	}
	most := bound(bounds)
	if most == nil || *most <= 0 {
		return 0
	}
	return product(at.times, uint64(*most))
}

// product is that of two numbers, or the greatest number where that is too small.
func product(a, b uint64) uint64 {
	if a != 0 && b > ^uint64(0)/a {
		return ^uint64(0)
	}
	return a * b
}

// fine tells that all rules are right, each is cheap enough, and so are all together.
func (v *version) fine() bool {
	total := uint64(0)
	for _, p := range v.places {
		if !p.ok {
			return false
		}
		for _, rule := range p.rules {
			times := p.times
			if times == 0 {
				times = p.most
			}
			cost := product(rule.cost, times)
			if cost > maxRuleCost || rule.messageCost > maxRuleCost || rule.old && p.unrelated || !rule.old && rule.asksForOld {
				return false
			}
			if total += cost + rule.messageCost; total > maxVersionCost {
				return false
			}
		}
	}
	return true
}

// defaultsHold tells that the values which rules get from defaults are as these want them. Whether they are what the schemas want otherwise is
// not looked at.
func (v *version) defaultsHold(ctx context.Context) bool {
	spent := uint64(0)
	for _, p := range v.places {
		for _, value := range p.values {
			if value == nil {
				continue // rules are about values that are there
			}
			if p.scope.root {
				return false
			}
			for _, rule := range p.rules {
				if rule.old {
					return false
				}
				got, details, err := rule.program.ContextEval(ctx, map[string]any{cel.ScopedVarName: cel.UnstructuredToVal(value, p.schema)})
				if err != nil || got != types.True || details.ActualCost() == nil {
					return false
				}
				// The API server has each rule run twice: with the value as its own former one, and without.
				if spent += 2 * *details.ActualCost(); spent > celconfig.RuntimeCELCostBudget {
					return false
				}
			}
		}
	}
	return true
}

// key tells schemas with rules apart.
type key struct {
	text string
	root bool
}

func newKey(s *schema.Structural, root bool) key {
	text, err := json.Marshal(s)
	if err != nil {
		text = fmt.Appendf(nil, "%p", s) // like no other
	}
	return key{string(text), root}
}

// share has schemas that are the same share a compilation, and returns how many there are of these.
func (c *compiler) share(all [][]*version) int {
	known := map[key]*compilation{}
	for _, versions := range all {
		for _, v := range versions {
			for i := range v.places {
				p := &v.places[i]
				if known[p.key] == nil {
					known[p.key] = p.compilation
					c.shared = append(c.shared, p.compilation)
				}
				known[p.key].runs = known[p.key].runs || p.runs
				p.compilation, p.key = known[p.key], key{}
			}
		}
	}
	return len(c.shared)
}
