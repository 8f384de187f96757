package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// Report is what became of a run, for programs: the one JSON object that -o json prints to standard output.
type Report struct {
	// Changed are the files that were written, relative where they are below the working directory. Files that were right already are not among them.
	Changed []string `json:"changed"`
	// Mistakes are what is wrong with the source; nothing is written then. Warnings are what is probably not what was meant.
	Mistakes []diag.Entry `json:"mistakes"`
	Warnings []diag.Entry `json:"warnings"`
	// Error is what else stopped the run.
	Error string `json:"error,omitempty"`
}

// Add adds what became of another run.
func (r *Report) Add(other Report) {
	r.Changed = append(r.Changed, other.Changed...)
	r.Mistakes = append(r.Mistakes, other.Mistakes...)
	r.Warnings = append(r.Warnings, other.Warnings...)
	if r.Error == "" {
		r.Error = other.Error
	}
}

// NewReport returns the report of a run that did nothing.
func NewReport() Report {
	return Report{Changed: []string{}, Mistakes: []diag.Entry{}, Warnings: []diag.Entry{}}
}

// Print writes the report.
func (r Report) Print(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(r)
}

// errFormat says which formats there are.
func errFormat(given string) error {
	if given == "text" || given == "json" {
		return nil
	}
	return fmt.Errorf("--output %q: give text or json", given)
}

// fail takes an error into the report.
func (r *Report) fail(err error) {
	var mistakes *mistakesError
	if errors.As(err, &mistakes) {
		r.Mistakes = mistakes.list.Entries(mistakes.dir)
		return
	}
	r.Error = err.Error()
}

// relative are paths as they are shown in the working directory.
func relative(paths []string) []string {
	out := []string{}
	here, err := os.Getwd()
	for _, path := range paths {
		if rel, relErr := filepath.Rel(here, path); err == nil && relErr == nil && filepath.IsAbs(path) && filepath.IsLocal(rel) {
			path = rel
		}
		out = append(out, path)
	}
	return out
}
