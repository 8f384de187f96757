package recipe

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/shlex"
)

// A Recipe is the arguments of one call of controller-gen.
type Recipe []string

const boilerplate = "hack/boilerplate.go.txt"

// Of returns the recipes of the project in root.
func Of(root string) ([]Recipe, error) {
	path := filepath.Join(root, "Makefile")
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	recipes, err := parse(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(recipes) > 0 {
		return asked(join(recipes)), nil
	}
	object := "object"
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(boilerplate))); err == nil {
		object += ":headerFile=" + boilerplate
	}
	return asked([]Recipe{{object, "rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases"}}), nil
}

// byMarker are the generators that do something only where a marker asks for it, with the options that they share with the generator of
// deep-copy methods.
var byMarker = map[string][]string{"applyconfiguration": {"headerFile"}, "conversion": {"headerFile", "year"}}

// asked adds the generators of byMarker, unless a recipe has them, to the first that makes deep-copy methods.
func asked(recipes []Recipe) []Recipe {
	is := func(name string) func(string) bool {
		return func(arg string) bool { return arg == name || strings.HasPrefix(arg, name+":") }
	}
	i := slices.IndexFunc(recipes, func(r Recipe) bool { return slices.ContainsFunc(r, is("object")) })
	if i < 0 {
		return recipes
	}
	object := recipes[i][slices.IndexFunc(recipes[i], is("object"))]
	for _, name := range slices.Sorted(maps.Keys(byMarker)) {
		if slices.ContainsFunc(recipes, func(r Recipe) bool { return slices.ContainsFunc(r, is(name)) }) {
			continue
		}
		var options []string
		for option := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(object, "object"), ":"), ",") {
			if key, _, _ := strings.Cut(option, "="); slices.Contains(byMarker[name], key) {
				options = append(options, option)
			}
		}
		arg := name
		if len(options) > 0 {
			arg += ":" + strings.Join(options, ",")
		}
		recipes[i] = append(slices.Clone(recipes[i]), arg)
	}
	return recipes
}

var (
	// assignment is a variable of a Makefile: NAME = value, :=, ::= or ?=.
	assignment = regexp.MustCompile(`^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*(\?|::?)?=\s*(.*)$`)
	// call is a line of a rule that calls controller-gen, by its name, by a variable's, or as a verb of operon.
	call      = regexp.MustCompile(`^\t[@-]*\s*(?:"?\$[({]CONTROLLER_GEN[)}]"?|"?\$[({]OPERON[)}]"?\s+controller-gen|(?:\S*/)?operon\s+controller-gen|(?:\S*/)?controller-gen)(?:\s+(.*))?$`)
	reference = regexp.MustCompile(`\$[({]([A-Za-z_][A-Za-z0-9_]*)[)}]`)
	target    = regexp.MustCompile(`^([A-Za-z0-9_./ -]+?)\s*::?(?:[^=].*)?$`)
)

// parse returns the calls of controller-gen in the rules for generate and manifests of a Makefile.
func parse(makefile string) ([]Recipe, error) {
	makefile = strings.ReplaceAll(makefile, "\\\n", " ")
	variables := map[string]string{}
	var recipes []Recipe
	wanted := false
	for i, line := range strings.Split(makefile, "\n") {
		if !strings.HasPrefix(line, "\t") {
			if m := assignment.FindStringSubmatch(line); m != nil {
				if _, set := variables[m[1]]; !set || m[2] != "?" {
					variables[m[1]] = m[3]
				}
			} else if m := target.FindStringSubmatch(line); m != nil {
				names := strings.Fields(m[1])
				wanted = slices.Contains(names, "generate") || slices.Contains(names, "manifests")
			}
			continue
		}
		m := call.FindStringSubmatch(line)
		if m == nil || !wanted {
			continue
		}
		text, err := expand(m[1], variables)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		args, err := shlex.Split(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		recipes = append(recipes, args)
	}
	return recipes, nil
}

// expand replaces the variables in text by their values, and those in these.
func expand(text string, variables map[string]string) (string, error) {
	for range 10 { // deeper than any Makefile of this field; a variable that refers to itself ends here too
		var unknown string
		expanded := reference.ReplaceAllStringFunc(text, func(ref string) string {
			name := ref[2 : len(ref)-1]
			value, ok := variables[name]
			if !ok {
				unknown = name
			}
			return value
		})
		if unknown != "" {
			return "", fmt.Errorf("variable %s has no value in the Makefile: give it one there, or call operon controller-gen with the arguments", unknown)
		}
		if expanded == text {
			if strings.Contains(text, "$") {
				return "", fmt.Errorf("%q needs make to be understood: call operon controller-gen with the arguments", text)
			}
			return text, nil
		}
		text = expanded
	}
	return "", errors.New("variables refer to each other without end")
}

// join makes one recipe of those that read the same packages, so that they are read once.
func join(recipes []Recipe) []Recipe {
	var joined []Recipe
	paths := map[string]int{}
	for _, r := range recipes {
		var own []string
		for _, arg := range r {
			if strings.HasPrefix(arg, "paths=") {
				own = append(own, arg)
			}
		}
		key := strings.Join(own, " ")
		at, ok := paths[key]
		if !ok || !compatible(joined[at], r) {
			paths[key] = len(joined)
			joined = append(joined, slices.Clone(r))
			continue
		}
		for _, arg := range r {
			if !slices.Contains(joined[at], arg) {
				joined[at] = append(joined[at], arg)
			}
		}
	}
	return joined
}

// compatible reports whether the arguments of two recipes mean the same together: no generator twice with other options, and no output
// rule without a generator's name or flag, which would be the other's too.
func compatible(a, b Recipe) bool {
	if !slices.Equal(a.flags(), b.flags()) {
		return false
	}
	for _, arg := range b {
		name, _, _ := strings.Cut(arg, ":")
		for _, other := range a {
			otherName, _, _ := strings.Cut(other, ":")
			switch {
			case arg == other:
			case name == "output" && (general(arg) || general(other) && otherName == "output"):
				return false
			case name != "output" && name == otherName && !strings.HasPrefix(name, "paths="):
				return false
			}
		}
	}
	return true
}

// flags are the arguments that concern a call as a whole.
func (r Recipe) flags() []string {
	var flags []string
	for _, arg := range r {
		if strings.HasPrefix(arg, "-") {
			flags = append(flags, arg)
		}
	}
	return flags
}

// general reports whether an output rule names no generator: output:dir=x and not output:crd:dir=x.
func general(rule string) bool {
	rest, ok := strings.CutPrefix(rule, "output:")
	if !ok {
		return false
	}
	first, _, _ := strings.Cut(rest, "=")
	return !strings.Contains(first, ":") || strings.HasPrefix(first, "artifacts:")
}
