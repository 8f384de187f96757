package migrate

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The kinds of an item.
const (
	kindOther = iota // comments that stand alone, includes, conditions with rules in them
	kindVariable
	kindRule
)

// An item is a part of a Makefile that stays or goes as a whole, with the comments and the .PHONY right above it.
type item struct {
	kind  int
	names []string
	// head are the comments above, text the lines of the item itself; of a rule, the first.
	head, text []string
	// recipe are the lines below a rule, as they are written.
	recipe []string
	// blank is how many empty lines come before.
	blank int
	gone  bool
}

var (
	assignment = regexp.MustCompile(`^(?:export\s+|override\s+)?([A-Za-z_][\w.-]*)\s*(?:\?|:{1,3}|\+|!)?=`)
	rule       = regexp.MustCompile(`^([^\s:=#][^:=#]*?)\s*::?(?:[^=]|$)`)
	reference  = regexp.MustCompile(`\$[({](?:call\s+)?([A-Za-z_][\w-]*)`)
	braces     = regexp.MustCompile(`\$\{([A-Za-z_]\w*)\}`)
	quoted     = regexp.MustCompile(`"(\$\([A-Z_]+\))"`)
)

// parseMakefile divides a Makefile into items. Their lines, one after the other, are the Makefile.
func parseMakefile(text string) []*item {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var items []*item
	current := &item{}
	finish := func() {
		if len(current.head)+len(current.text) > 0 {
			items = append(items, current)
			current = &item{}
		}
	}
	for i := 0; i < len(lines); {
		line := lines[i]
		end := i + 1
		for strings.HasSuffix(lines[end-1], "\\") && end < len(lines) {
			end++
		}
		first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.TrimSpace(line) == "":
			finish()
			current.blank++
		case strings.HasPrefix(line, "#"), strings.HasPrefix(line, ".PHONY:"):
			current.head = append(current.head, lines[i:end]...)
		case strings.HasPrefix(line, "\t"):
			if len(items) > 0 && len(current.head) == 0 && items[len(items)-1].kind == kindRule {
				last := items[len(items)-1]
				last.recipe = append(last.recipe, slices.Repeat([]string{""}, current.blank)...)
				last.recipe = append(last.recipe, lines[i:end]...)
				current.blank = 0
				break
			}
			current.text = append(current.text, lines[i:end]...)
			finish()
		case first == "define", strings.HasPrefix(first, "if"):
			end = blockEnd(lines, i, first)
			current.text = lines[i:end]
			current.classify(first)
			finish()
		default:
			current.text = lines[i:end]
			current.classify("")
			finish()
		}
		i = end
	}
	finish()
	return items
}

// blockEnd is the index after the line that ends a definition or a condition.
func blockEnd(lines []string, start int, opening string) int {
	depth := 0
	for i := start; i < len(lines); i++ {
		word, _, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
		switch {
		case opening == "define" && word == "endef":
			return i + 1
		case opening == "define":
		case strings.HasPrefix(word, "if") && !strings.HasPrefix(lines[i], "\t"):
			depth++
		case word == "endif":
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(lines)
}

// classify finds out what an item is, and what it defines.
func (it *item) classify(opening string) {
	switch {
	case opening == "define":
		it.kind = kindVariable
		name := strings.Fields(strings.TrimPrefix(strings.TrimSpace(it.text[0]), "define"))
		it.names = name[:min(len(name), 1)]
	case opening != "":
		it.kind = kindVariable
		for _, line := range it.text {
			line = strings.TrimSpace(line)
			if name := assignment.FindStringSubmatch(line); name != nil {
				it.names = append(it.names, name[1])
			} else if rule.MatchString(line) && !strings.HasPrefix(line, "if") {
				it.kind = kindOther
			}
		}
	case assignment.MatchString(it.text[0]):
		it.kind = kindVariable
		it.names = assignment.FindStringSubmatch(it.text[0])[1:2]
	case rule.MatchString(it.text[0]):
		it.kind = kindRule
		it.names = strings.Fields(rule.FindStringSubmatch(it.text[0])[1])
	}
	if len(it.names) == 0 {
		it.kind = kindOther
	}
}

// machinery reports whether all that an item defines is for downloading tools.
func (it *item) machinery() bool {
	return it.kind != kindOther && !slices.ContainsFunc(it.names, func(name string) bool { return !slices.Contains(machineryNames, name) })
}

// logicalRecipe is the recipe by its logical lines, with variables and quotes in one form, and its comments as they are.
func (it *item) logicalRecipe() []string {
	var lines []string
	for joined := range strings.Lines(strings.ReplaceAll(strings.Join(it.recipe, "\n"), "\\\n", " ")) {
		if joined = strings.TrimSpace(joined); joined != "" && !isComment(joined) {
			joined = strings.Join(strings.Fields(joined), " ")
			joined = quoted.ReplaceAllString(braces.ReplaceAllString(joined, "$$($1)"), "$1")
		}
		if joined != "" {
			lines = append(lines, joined)
		}
	}
	return lines
}

func isComment(line string) bool { return strings.HasPrefix(line, "#") }

// setRecipe gives a rule a recipe that calls operon, and takes out of its prerequisites what downloaded tools.
func (it *item) setRecipe(lines []string) {
	it.recipe = nil
	for _, line := range lines {
		it.recipe = append(it.recipe, "\t"+line)
	}
	if it.names[0] == "docker-build" {
		// What is said about it is about Docker.
		it.head = slices.DeleteFunc(it.head, isComment)
	}
	drop := toolTargets
	if it.names[0] == "run" {
		// operon run does these, and again when a file is saved.
		drop = append([]string{"manifests", "generate", "fmt", "vet"}, drop...)
	}
	declared, comment, _ := strings.Cut(strings.Join(it.text, " "), "##")
	target, prerequisites, _ := strings.Cut(strings.ReplaceAll(declared, "\\", " "), ":")
	words := slices.DeleteFunc(strings.Fields(prerequisites), func(word string) bool { return slices.Contains(drop, word) })
	line := strings.TrimRight(target+": "+strings.Join(words, " "), " ")
	if comment != "" {
		line += " ##" + comment
	}
	it.text = []string{line}
}

// usesTools reports whether a rule calls a tool that operon stands in for, or asks for its download.
func (it *item) usesTools() bool {
	return slices.ContainsFunc(it.needs(), func(name string) bool {
		return slices.Contains(toolVariables, name) || slices.Contains(toolTargets, name)
	})
}

// needs are the names of the variables and targets that an item refers to.
func (it *item) needs() []string {
	var names []string
	for _, line := range slices.Concat(it.text, it.recipe) {
		for _, match := range reference.FindAllStringSubmatch(line, -1) {
			names = append(names, match[1], "$("+match[1]+")")
		}
	}
	if it.kind == kindRule {
		declared, _, _ := strings.Cut(it.text[0], "##")
		if _, prerequisites, ok := strings.Cut(declared, ":"); ok {
			names = append(names, strings.Fields(prerequisites)...)
		}
	}
	return names
}

// keepNeeded brings back what is gone and needed by what stays. It reports whether there was any.
func keepNeeded(items []*item) bool {
	needed := map[string]bool{}
	for _, it := range items {
		if !it.gone {
			for _, name := range it.needs() {
				needed[name] = true
			}
		}
	}
	again := false
	for _, it := range items {
		if it.gone && slices.ContainsFunc(it.names, func(name string) bool { return needed[name] }) {
			it.gone, again = false, true
		}
	}
	return again
}

// formatMakefile writes items as a Makefile, with the variable OPERON beside that of the image.
func formatMakefile(items []*item) string {
	var out []string
	heading := -1 // index of a heading in out that nothing has followed yet
	write := func(blank int, lines ...string) {
		if len(out) > 0 {
			out = append(out, slices.Repeat([]string{""}, min(blank, 1))...)
		}
		out = append(out, lines...)
	}
	declared := slices.ContainsFunc(items, func(it *item) bool { return it.kind == kindVariable && slices.Contains(it.names, "OPERON") })
	operon := []string{"# The operon command.", "OPERON ?= operon"}
	pending := 0
	for _, it := range items {
		if it.gone {
			pending = max(pending, it.blank)
			continue
		}
		if len(it.text) == 0 && len(it.head) == 1 && strings.HasPrefix(it.head[0], "##@") {
			if heading >= 0 {
				out = out[:heading]
			}
			heading = len(out)
			write(it.blank, it.head...)
			pending = 0
			continue
		}
		heading = -1
		if !declared && it.kind == kindRule && !slices.Contains(out, operon[1]) {
			write(1, operon...)
			pending = 1
		}
		write(max(it.blank, pending), it.lines()...)
		pending = 0
		if !declared && it.kind == kindVariable && it.names[0] == "IMG" {
			write(0, operon...)
		}
	}
	if heading >= 0 {
		out = out[:heading]
	}
	return strings.Join(out, "\n") + "\n"
}

func (it *item) lines() []string { return slices.Concat(it.head, it.text, it.recipe) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
