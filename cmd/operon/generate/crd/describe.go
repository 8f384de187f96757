package crd

import "strings"

// describe makes a description of a doc comment: without what follows a line of dashes, and without lines that begin with TODO. An empty line before
// these stays.
func describe(doc string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(doc, "\n"), "\n") {
		if strings.HasPrefix(line, "---") {
			break
		}
		if !strings.HasPrefix(line, "TODO") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// trimDescriptions shortens the descriptions in a schema's tree to a length, and drops them where it is 0.
func trimDescriptions(tree map[string]any, length int) {
	if d, ok := tree["description"].(string); ok {
		if d = shorten(d, length); d == "" {
			delete(tree, "description")
		} else {
			tree["description"] = d
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if sub, ok := tree[key].(map[string]any); ok {
			trimDescriptions(sub, length)
		}
	}
	if properties, ok := tree["properties"].(map[string]any); ok {
		for _, p := range properties {
			trimDescriptions(p.(map[string]any), length)
		}
	}
}

// shorten cuts a text to a length in bytes: after the last sentence that fits, or else the last word, or in the middle of it.
func shorten(text string, length int) string {
	if len(text) <= length || length < 0 {
		return text
	}
	if length == 0 {
		return ""
	}
	cut := text[:length]
	if i := strings.LastIndexAny(cut, ".?!"); i > 0 {
		return cut[:i+1]
	}
	if i := strings.LastIndexAny(cut, " \t\n"); i > 0 {
		cut = cut[:i]
	}
	// Half a character becomes the one that stands for what cannot be decoded.
	return string([]rune(cut)) + "..."
}
