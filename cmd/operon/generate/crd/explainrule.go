package crd

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// explainRule is for a refusal of a CEL rule.
func (e *explainer) explainRule(p place, r generate.Refusal) {
	i := p.keyword().Index()
	rules := p.node().Validations
	if i < 0 || i >= len(rules) {
		e.doubt(e.def.mistake(r.Path+" "+r.Sentence(), ""))
		return
	}
	rule, argument := rules[i], "rule"
	if len(p.rest) > 1 {
		argument = p.rest[1].Name
	}
	at := rule.at
	if at == nil || !at.pkg.Root {
		// The rule of an imported type is as it is. What can be done is where the type is used.
		if o := p.declaration(); o != nil {
			fix := ""
			if strings.Contains(r.Detail, "cost") {
				fix = p.bounds(rule)
			}
			e.wrong(o.mistake(o.span, fmt.Sprintf("the rule %q that comes with its type %s", rule.Rule, saidOfRule(r)), fix))
			return
		}
		e.doubt(e.def.mistake(r.Path+" "+r.Sentence(), ""))
		return
	}
	marked := at.span.Argument(argument)
	if m := uncorrelatablePattern.FindStringSubmatch(r.Detail); m != nil {
		list := e.def.locate(m[1])
		name := list.nameOf(len(list.nodes) - 1)
		e.wrong(at.mistake(marked, fmt.Sprintf("the %s uses oldSelf, and nothing tells which old item of %s a new one is", argument, name),
			fmt.Sprintf("make %s +listType=map with a +listMapKey, or move the rule to %s as a whole", name, name)))
		return
	}
	if strings.Contains(r.Detail, "cost") {
		e.wrong(at.mistake(marked, fmt.Sprintf("the %s %s", argument, saidOfRule(r)), p.bounds(rule)))
		return
	}
	found := compilerErrors(r.Detail)
	if len(found) == 0 {
		e.wrong(at.mistake(marked, fmt.Sprintf("the %s %s", argument, r.Sentence()), ""))
		return
	}
	expression := rule.Rule
	if argument == "messageExpression" {
		expression = rule.MessageExpression
	}
	for _, c := range found {
		place := marked
		if text, asMeant := at.span.Text(argument, expression); asMeant && c.line == 1 {
			place = text.From(c.span(expression))
		}
		e.wrong(at.mistake(place, fmt.Sprintf("the %s is not valid CEL here: %s", argument, c.what), p.suggest(c.what)))
	}
}

// saidOfRule is the refusal of a rule as the end of a sentence about the rule.
func saidOfRule(r generate.Refusal) string {
	if strings.Contains(r.Detail, "contributed to") {
		return "is one of those that make all rules together cost more than the API server allows"
	}
	if strings.Contains(r.Detail, "exceeds budget") {
		return budget(r.Detail)
	}
	return r.Sentence()
}

var factorPattern = regexp.MustCompile(`exceeds budget by factor of (more than )?([0-9.]+)x`)

// budget says by how much a rule is too expensive.
func budget(detail string) string {
	m := factorPattern.FindStringSubmatch(detail)
	if m == nil {
		return "costs more than the API server allows"
	}
	factor := m[2]
	if f, err := strconv.ParseFloat(factor, 64); err == nil {
		factor = strconv.FormatFloat(f, 'g', 3, 64)
	}
	return fmt.Sprintf("may cost %s%s times what the API server allows", m[1], factor)
}

var uncorrelatablePattern = regexp.MustCompile(`uncorrelatable portion of the schema within (.*)$`)

// compilerError is one thing that the CEL compiler says about an expression.
type compilerError struct {
	line, column int
	what         string
}

var compilerPattern = regexp.MustCompile(`(?m)ERROR: <input>:(\d+):(\d+): (.*)$`)

func compilerErrors(detail string) []compilerError {
	var out []compilerError
	for _, m := range compilerPattern.FindAllStringSubmatch(detail, -1) {
		line, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		what, _, _ := strings.Cut(m[3], " expecting {")
		out = append(out, compilerError{line, column, what})
	}
	return out
}

var wordPattern = regexp.MustCompile(`^\.?\w+`)

// span is what part of the expression the error is about: a word, with the dot before it, or one byte. The compiler tells of functions at the
// parenthesis behind the name.
func (c compilerError) span(expression string) (offset, length int) {
	offset = c.column - 1
	if offset < 0 || offset >= len(expression) {
		return offset, 1
	}
	if m := undefinedPattern.FindStringSubmatch(c.what); m != nil && m[2] != "" && strings.HasSuffix(expression[:offset], m[2]) {
		return offset - len(m[2]), len(m[2])
	}
	return offset, max(1, len(wordPattern.FindString(expression[offset:])))
}

var undefinedPattern = regexp.MustCompile(`undefined field '([^']+)'|undeclared reference to '([^']+)'`)

// functions are some of CEL's that rules often call.
var functions = []string{
	"size", "has", "all", "exists", "exists_one", "map", "filter", "matches", "contains", "startsWith", "endsWith", "int", "string", "duration", "timestamp", "quantity", "url", "cidr", "ip",
}

// suggest is the nearest name to one that the schema does not know.
func (p place) suggest(what string) string {
	m := undefinedPattern.FindStringSubmatch(what)
	if m == nil {
		return ""
	}
	name, names := m[1]+m[2], []string{}
	if m[2] != "" {
		names = append(names, "self", "oldSelf")
		names = append(names, functions...)
	}
	if m[2] != "" && p.node().Properties[name] != nil {
		return fmt.Sprintf("write self.%s", name)
	}
	p.node().addProperties(&names)
	slices.Sort(names)
	if near := marker.Nearest(name, slices.Compact(names)); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return ""
}

// addProperties adds the names of all properties within.
func (s *Schema) addProperties(names *[]string) {
	if s == nil {
		return
	}
	s.Items.addProperties(names)
	s.AdditionalProperties.addProperties(names)
	for name, property := range s.Properties {
		*names = append(*names, name)
		property.addProperties(names)
	}
}
