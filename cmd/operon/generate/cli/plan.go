package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// plan is what a command line asks for.
type plan struct {
	steps []step
	paths []string
}

// step is a generator with its options and the place for its output.
type step struct {
	name      string
	generator generate.Generator
	rule      rule
}

// grammar reads arguments.
type grammar struct {
	registry *marker.Registry
	tools    map[string]tool
}

func newGrammar() *grammar {
	g := &grammar{tools: map[string]tool{}}
	defs := []marker.Definition{marker.Options("paths", []string{}, pathsHelp)}
	defs = append(defs, ruleDefinitions("output")...)
	for _, t := range tools() {
		g.tools[t.name] = t
		defs = append(defs, marker.Options(t.name, t.generator, t.help))
		defs = append(defs, ruleDefinitions("output:"+t.name)...)
	}
	g.registry = marker.NewRegistry(defs)
	return g
}

// plan reads the arguments.
func (g *grammar) plan(args []string) (*plan, error) {
	p := &plan{}
	var common rule
	own := map[string]rule{}
	for _, arg := range args {
		d, text, ok := g.registry.Lookup(arg, marker.OnPackage)
		if !ok {
			return nil, g.unknown(arg)
		}
		value, err := d.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", arg, err)
		}
		switch v := value.(type) {
		case []string:
			p.paths = append(p.paths, v...)
		case generate.Generator:
			if slices.ContainsFunc(p.steps, func(s step) bool { return s.name == d.Name }) {
				return nil, fmt.Errorf("%s: the generator %s is there already: give it all its options at once", arg, d.Name)
			}
			p.steps = append(p.steps, step{name: d.Name, generator: v})
		case rule:
			if name, _, isOwn := strings.Cut(strings.TrimPrefix(d.Name, "output:"), ":"); isOwn {
				own[name] = v
			} else {
				common = v
			}
		}
	}
	if len(p.steps) == 0 {
		return nil, fmt.Errorf("no generator: \"object paths=./...\" would be one, and the others are %s", strings.Join(g.names(), ", "))
	}
	for i, s := range p.steps {
		p.steps[i].rule = artifacts{Config: "config/" + s.name}
		for _, given := range []rule{common, own[s.name]} {
			if given != nil {
				p.steps[i].rule = given
			}
		}
		delete(own, s.name)
	}
	for name := range own {
		return nil, fmt.Errorf("output:%s: the generator %s is not asked for: add %s", name, name, name)
	}
	return p, nil
}

// printsArtifacts tells that something generated goes to standard output.
func (p *plan) printsArtifacts() bool {
	return slices.ContainsFunc(p.steps, func(s step) bool { return s.rule == stdout{} })
}

func (g *grammar) names() []string {
	var names []string
	for _, t := range tools() {
		names = append(names, t.name)
	}
	return names
}

func (g *grammar) unknown(arg string) error {
	name, _, _ := strings.Cut(arg, "=")
	if strings.HasPrefix(name, "output:") {
		return fmt.Errorf("%q is no output rule: write output:dir=DIR, output:artifacts:config=DIR, output:stdout or output:none, or output:GENERATOR:... for one generator", arg)
	}
	head, options, _ := strings.Cut(name, ":")
	var known []string
	for _, d := range g.registry.Definitions() {
		if d.Name == head && options != "" {
			// Options without an equals sign do not belong to the name for the grammar.
			if _, err := d.Parse(options); err != nil {
				return fmt.Errorf("%s: %w", arg, err)
			}
		}
		known = append(known, d.Name)
	}
	if near := marker.Nearest(name, known); near != "" {
		return fmt.Errorf("%q is no generator, output rule or paths=: did you mean %s?", arg, near)
	}
	if near := marker.Nearest(head, known); near != "" {
		return fmt.Errorf("%q is no generator, output rule or paths=: did you mean %s?", arg, near)
	}
	return fmt.Errorf("%q is no generator, output rule or paths=: the generators are %s", arg, strings.Join(g.names(), ", "))
}
