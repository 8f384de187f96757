package crd

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// explainer turns what the API server says about a definition into mistakes in the source.
type explainer struct {
	in  *generate.Input
	def *Definition
	// refusals are all that there are.
	refusals []generate.Refusal

	mistakes, doubts []diag.Mistake
}

func (e *explainer) wrong(m diag.Mistake) { e.mistakes = append(e.mistakes, m) }
func (e *explainer) doubt(m diag.Mistake) { e.doubts = append(e.doubts, m) }

// explain adds a refusal to the mistakes where a marker in a root package is at fault, and else to the doubts: what no marker says, such as a type
// that is missing from a schema, published projects patch into their definitions after they are generated.
func (e *explainer) explain(r generate.Refusal) {
	p := e.def.locate(r.Path)
	if strings.HasPrefix(r.Path, "status.") {
		return // it is about what follows from the rest
	}
	if strings.Contains(r.Detail, approval) {
		return // a doubt already
	}
	if r.Path == "metadata.name" && e.has("a DNS-1035 label must") {
		return // the name is made of the one that is wrong
	}
	if p.version == nil && (r.Path == "metadata.annotations" || r.Path == "metadata.labels") {
		t := e.def.Versions[0].Type
		if at, ok := originOfType(t).marked([]string{"kubebuilder:metadata"}); ok {
			_, argument, _ := strings.Cut(r.Path, ".")
			e.wrong(originOfType(t).mistake(at.Argument(argument), argument+" "+r.Sentence(), ""))
			return
		}
	}
	if p.version == nil {
		e.doubt(e.def.mistake(r.Path+" "+r.Sentence(), ""))
		return
	}
	if !p.inSchema {
		e.explainResource(p, r)
		return
	}
	if p.keyword().Name == "x-kubernetes-validations" {
		e.explainRule(p, r)
		return
	}
	what, fix := p.subject()+" "+r.Sentence(), ""
	if strings.Contains(r.Detail, "estimated rule cost total") {
		if !e.has("estimated rule cost exceeds", "estimated messageExpression cost exceeds") {
			e.wrong(e.def.mistake("all rules together "+budget(r.Detail), "make the most expensive of them, which are named besides, cheaper"))
		}
		return
	}
	for _, node := range slices.Backward(p.nodes) {
		for _, o := range node.from {
			if !o.pkg.Root {
				continue
			}
			names := saying(p.keyword().Name)
			if strings.Contains(r.Detail, "x-kubernetes-embedded-resource") {
				names = append(names, saying("x-kubernetes-embedded-resource")...)
			}
			if at, ok := o.marked(names); ok {
				e.wrong(o.mistake(at.Argument(""), what, fix))
				return
			}
		}
	}
	if o := p.declaration(); o != nil {
		e.doubt(o.mistake(o.span, what, fix))
		return
	}
	e.doubt(e.def.mistake(r.Path+" "+r.Sentence(), fix))
}

// has tells that one of the refusals says one of these.
func (e *explainer) has(texts ...string) bool {
	return slices.ContainsFunc(e.refusals, func(r generate.Refusal) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(r.Detail, text) })
	})
}

// mistake is one about the definition as a whole, which the API server would refuse.
func (def *Definition) mistake(what, fix string) diag.Mistake {
	m := def.at
	m.What, m.Fix, m.Refused = what, fix, true
	return m
}

// declaration is the nearest declaration in a root package, from the last schema back to the first.
func (p place) declaration() *origin {
	for _, node := range slices.Backward(p.nodes) {
		for _, o := range node.from {
			if o.pkg.Root {
				return o
			}
		}
	}
	return nil
}

// subject names what a refusal of a schema is about.
func (p place) subject() string {
	if name := p.keyword().Name; name != "" {
		return name
	}
	return "the schema"
}

// saying lists the markers that a keyword of a schema may come from.
func saying(keyword string) []string {
	switch keyword {
	case "default":
		return []string{"kubebuilder:default", "default"}
	case "x-kubernetes-list-type":
		return []string{"listType", "k8s:listType"}
	case "x-kubernetes-list-map-keys":
		return []string{"listMapKey", "k8s:listMapKey"}
	case "x-kubernetes-map-type":
		return []string{"mapType", "structType"}
	case "x-kubernetes-preserve-unknown-fields":
		return []string{"kubebuilder:pruning:PreserveUnknownFields", "kubebuilder:validation:XPreserveUnknownFields"}
	case "x-kubernetes-embedded-resource":
		return []string{"kubebuilder:validation:EmbeddedResource", "kubebuilder:validation:XEmbeddedResource"}
	case "x-kubernetes-int-or-string":
		return []string{"kubebuilder:validation:XIntOrString"}
	case "nullable":
		return []string{"nullable"}
	case "":
		return nil
	}
	name := strings.ToUpper(keyword[:1]) + keyword[1:]
	return []string{"kubebuilder:validation:" + name, "kubebuilder:validation:items:" + name, "k8s:" + keyword}
}

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
			e.wrong(o.mistake(o.span, fmt.Sprintf("the rule %q that comes with its type %s", rule.Rule, e.said(argument, r)), fix))
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
		e.wrong(at.mistake(marked, fmt.Sprintf("the %s %s", argument, e.said(argument, r)), p.bounds(rule)))
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

func (e *explainer) said(argument string, r generate.Refusal) string {
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
