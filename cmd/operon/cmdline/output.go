package cmdline

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// The forms of output: text for people, JSON for programs.
const (
	Text = "text"
	JSON = "json"
)

// Forms are the values of --output.
func Forms() []string { return []string{Text, JSON} }

// AddOutput declares --output, whose default is text. json says what is printed as JSON.
func AddOutput(f *pflag.FlagSet, output *string, json string) {
	f.StringVarP(output, "output", "o", Text, "text, or json for "+json)
}

// CheckOutput refuses a value of --output that is no form. Verbs call it before they do anything.
func CheckOutput(output string) error {
	if !slices.Contains(Forms(), output) {
		return fmt.Errorf("--output %q: give text or json", output)
	}
	return nil
}
