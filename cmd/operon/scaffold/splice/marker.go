package splice

import (
	"fmt"
	"strings"
)

// BeforeMarker adds lines before the line that has a marker, indented as the marker is, unless they are there.
// Where the marker is missing the error says which comment to put back.
func BeforeMarker(text, marker, lines string) (string, error) {
	comment := "+kubebuilder:scaffold:" + marker
	all := strings.SplitAfter(text, "\n")
	for i, line := range all {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[len(fields)-1] != comment {
			continue
		}
		indented := indent(lines, line[:len(line)-len(strings.TrimLeft(line, " \t"))])
		if strings.Contains("\n"+text, "\n"+indented) {
			return text, nil
		}
		return strings.Join(all[:i], "") + indented + strings.Join(all[i:], ""), nil
	}
	return "", fmt.Errorf("the comment %q is missing: put it back where %q may be added", comment, strings.TrimSpace(firstLine(lines)))
}

// indent puts a prefix before every line that is not empty, and a newline after the last.
func indent(lines, prefix string) string {
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimRight(lines, "\n"), "\n") {
		if line != "" {
			b.WriteString(prefix + line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(s, "\n"), "\n")
	return line
}
