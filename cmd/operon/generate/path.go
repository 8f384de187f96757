package generate

import (
	"regexp"
	"strconv"
)

// Step is an element of a path: a name, or the key in brackets behind one.
type Step struct {
	Name string
	Key  string
}

// Index is the key as a number, -1 where it is none.
func (s Step) Index() int {
	if n, err := strconv.Atoi(s.Key); err == nil {
		return n
	}
	return -1
}

var stepPattern = regexp.MustCompile(`^\.?([^.\[]+)(?:\[([^\]]*)\])?`)

// Steps takes a path apart. Keys may hold dots: spec.versions[0].schema.openAPIV3Schema.properties[a.b].
func Steps(path string) []Step {
	var out []Step
	for path != "" {
		m := stepPattern.FindStringSubmatch(path)
		if m == nil {
			return out
		}
		out = append(out, Step{m[1], m[2]})
		path = path[len(m[0]):]
	}
	return out
}
