package crd

import (
	"fmt"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/parser"

	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// rules reads the expressions of validation rules, as far as they can be read without types.
type rules struct {
	parser *parser.Parser
	known  map[string]string // expression to what is wrong with it
}

// wrong tells why an expression does not parse, or "".
func (r *rules) wrong(expression string) string {
	if what, done := r.known[expression]; done {
		return what
	}
	if r.parser == nil {
		p, err := parser.NewParser(parser.Macros(parser.AllMacros...), parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true))
		if err != nil {
			return ""
		}
		r.parser, r.known = p, map[string]string{}
	}
	what := ""
	if _, errs := r.parser.Parse(common.NewTextSource(expression)); errs != nil && len(errs.GetErrors()) > 0 {
		first := errs.GetErrors()[0]
		what = fmt.Sprintf("%s, at column %d", first.Message, first.Location.Column()+1)
	}
	r.known[expression] = what
	return what
}

// checkRules reports the rules among the markers of a type or field whose expressions do not parse.
func (b *builder) checkRules(pkg *load.Package, values marker.Values, places marker.Places) {
	if !pkg.Root {
		return
	}
	for _, name := range []string{"kubebuilder:validation:XValidation", "kubebuilder:validation:items:XValidation"} {
		for i, rule := range marker.All[Rule](values, name) {
			at := places[name][i]
			for key, expression := range map[string]string{"rule": rule.Rule, "messageExpression": rule.MessageExpression} {
				if expression == "" {
					continue
				}
				if what := b.rules.wrong(expression); what != "" {
					b.mistake(pkg, at.Pos, at.Len, "", "the %s is not CEL: %s", key, what)
				}
			}
		}
	}
}
