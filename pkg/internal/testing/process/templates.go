package process

import (
	"fmt"
	"strings"
	"text/template"
)

// AddTemplates renders command line arguments, which are Go templates over
// data, and appends the flags among them to the Arguments without their defaults.
// What is left, such as flags without a value, is returned.
func (a *Arguments) AddTemplates(templates []string, data any) (rest []string, err error) {
	for _, text := range templates {
		t, err := template.New(text).Parse(text)
		if err != nil {
			return nil, fmt.Errorf("argument %q: %w", text, err)
		}
		var b strings.Builder
		if err := t.Execute(&b, data); err != nil {
			return nil, fmt.Errorf("argument %q: %w", text, err)
		}
		arg := b.String()
		name, value, isFlag := strings.Cut(arg, "=")
		switch {
		case arg == "":
		case isFlag && strings.HasPrefix(name, "--"):
			a.AppendNoDefaults(name[2:], value)
		default:
			rest = append(rest, arg)
		}
	}
	return rest, nil
}
