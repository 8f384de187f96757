package splice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// EnsureItem adds an item, as in "- ../crd" or with more lines below, to the end of a list at the top level of a kustomization. An item that is
// there as a comment is uncommented where it is.
func EnsureItem(text, key, item string) (string, error) {
	item = strings.TrimRight(item, "\n")
	lines := splitLines(text)
	if indexOfItem(lines, item) >= 0 {
		return text, nil
	}
	if at := slices.IndexFunc(lines, func(line string) bool { return isComment(line, firstLine(item)) }); at >= 0 {
		for _, want := range strings.Split(item, "\n") {
			if at < len(lines) && isComment(lines[at], want) {
				lines[at] = want
				at++
			}
		}
		return ensureKey(lines, key)
	}
	at, err := endOfList(lines, key)
	if err != nil {
		return "", err
	}
	if at < 0 {
		if i := slices.IndexFunc(lines, func(line string) bool { return isComment(line, key+":") }); i >= 0 {
			lines[i], at = key+":", i+1
		} else {
			if len(lines) > 0 {
				lines = append(lines, "")
			}
			lines = append(lines, key+":")
			at = len(lines)
		}
	}
	return joinLines(slices.Insert(lines, at, strings.Split(item, "\n")...)), nil
}

// ensureKey uncomments the key of a list whose items were uncommented.
func ensureKey(lines []string, key string) (string, error) {
	if at, err := endOfList(lines, key); err != nil || at >= 0 {
		return joinLines(lines), err
	}
	for i, line := range lines {
		if isComment(line, key+":") {
			lines[i] = key + ":"
			return joinLines(lines), nil
		}
	}
	return "", fmt.Errorf("there is no list %q", key)
}

// endOfList is the index of the line after the last item of a list at the top level, or -1 where there is no such list.
func endOfList(lines []string, key string) (int, error) {
	start := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, key+":") })
	if start < 0 {
		return -1, nil
	}
	if value := strings.TrimSpace(strings.TrimPrefix(lines[start], key+":")); value == "[]" {
		lines[start] = key + ":"
	} else if value != "" && !strings.HasPrefix(value, "#") {
		return 0, fmt.Errorf("%s: write the list with one item a line, each after a hyphen", key)
	}
	end := start + 1
	for i := end; i < len(lines); i++ {
		switch line := lines[i]; {
		case strings.HasPrefix(line, "-") || strings.HasPrefix(line, " "):
			end = i + 1
		case line != "" && !strings.HasPrefix(line, "#"):
			return end, nil
		}
	}
	return end, nil
}

// RemoveItem takes an item out of whichever list has it. Its first line says which; the lines below that belong to it go too.
func RemoveItem(text, item string) string {
	lines := splitLines(text)
	at := indexOfItem(lines, item)
	if at < 0 {
		return text
	}
	depth := len(lines[at]) - len(strings.TrimLeft(lines[at], " "))
	end := at + 1
	for end < len(lines) && strings.TrimSpace(lines[end]) != "" && !strings.HasPrefix(strings.TrimSpace(lines[end]), "#") &&
		len(lines[end])-len(strings.TrimLeft(lines[end], " ")) > depth {
		end++
	}
	return joinLines(slices.Delete(lines, at, end))
}

// RemoveEmptyList takes out the key of a list at the top level that has no items.
func RemoveEmptyList(text, key string) string {
	lines := splitLines(text)
	at := emptyList(lines, key)
	if at < 0 {
		return text
	}
	if at > 0 && lines[at-1] == "" {
		return joinLines(slices.Delete(lines, at-1, at+1))
	}
	return joinLines(slices.Delete(lines, at, at+1))
}

// CommentEmptyList makes a comment of the key of a list at the top level that has no items.
func CommentEmptyList(text, key string) string {
	lines := splitLines(text)
	if at := emptyList(lines, key); at >= 0 {
		lines[at] = "#" + lines[at]
	}
	return joinLines(lines)
}

func emptyList(lines []string, key string) int {
	at := slices.IndexFunc(lines, func(line string) bool { return strings.TrimRight(line, " ") == key+":" })
	if at < 0 {
		return -1
	}
	for _, line := range lines[at+1:] {
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, " ") {
			return -1
		}
		if line != "" && !strings.HasPrefix(line, "#") {
			break
		}
	}
	return at
}

// CommentItem makes a comment of an item of a list, and of the lines below that belong to it.
func CommentItem(text, item string) string {
	lines := splitLines(text)
	at := indexOfItem(lines, item)
	if at < 0 {
		return text
	}
	for range strings.Split(strings.TrimRight(item, "\n"), "\n") {
		if at < len(lines) {
			lines[at] = "#" + lines[at]
			at++
		}
	}
	return joinLines(lines)
}

// Comment makes a comment of the paragraph that begins with the line that has a phrase: that line and those below, up to an empty line or a comment.
func Comment(text, phrase string) string {
	lines := splitLines(text)
	at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, phrase) })
	if at < 0 {
		return text
	}
	for ; at < len(lines) && lines[at] != "" && !strings.HasPrefix(lines[at], "#"); at++ {
		lines[at] = "#" + lines[at]
	}
	return joinLines(lines)
}

// HasItem reports whether some list has an item with that first line.
func HasItem(text, item string) bool { return indexOfItem(splitLines(text), item) >= 0 }

// Items are the items of one line of a list at the top level, without their hyphens.
func Items(text, key string) []string {
	lines := splitLines(text)
	start := slices.IndexFunc(lines, func(line string) bool { return strings.TrimRight(line, " ") == key+":" })
	if start < 0 {
		return nil
	}
	var items []string
	for _, line := range lines[start+1:] {
		trimmed := strings.TrimSpace(line)
		if item, ok := strings.CutPrefix(trimmed, "- "); ok {
			items = append(items, item)
		} else if trimmed != "" && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "#") {
			break
		}
	}
	return items
}

// Uncomment uncomments the paragraph that begins with the line that has a phrase: that line and those below, up to an empty line or one with a marker.
func Uncomment(text, phrase string) string {
	lines := splitLines(text)
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#") && strings.Contains(line, phrase) })
	if at < 0 {
		return text
	}
	for ; at < len(lines) && strings.HasPrefix(lines[at], "#") && !strings.Contains(lines[at], "+kubebuilder:scaffold:"); at++ {
		lines[at] = strings.TrimPrefix(lines[at], "#")
	}
	return joinLines(lines)
}

// UncommentLine uncomments a line that is a comment and nothing else.
func UncommentLine(text, line string) string {
	lines := splitLines(text)
	if slices.Contains(lines, line) {
		return text
	}
	for i := range lines {
		if isComment(lines[i], line) {
			lines[i] = line
			break
		}
	}
	return joinLines(lines)
}

func indexOfItem(lines []string, item string) int {
	want := strings.TrimSpace(firstLine(item))
	return slices.IndexFunc(lines, func(line string) bool {
		return strings.TrimSpace(endComment.ReplaceAllString(line, "")) == want
	})
}

var endComment = regexp.MustCompile(`\s+#.*$`)

// isComment reports whether a line is another, commented out.
func isComment(line, of string) bool {
	rest, ok := strings.CutPrefix(strings.TrimRight(line, " "), "#")
	return ok && (rest == of || rest == " "+of)
}

func splitLines(text string) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
