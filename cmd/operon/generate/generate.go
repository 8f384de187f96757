package generate

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// Generator renders files from Go source and its markers. Its options are its exported fields, with the tags of package marker.
type Generator interface {
	// Markers lists the markers that it reads.
	Markers() []marker.Definition
	// Generate renders the files. What is wrong with the source it adds to the input's mistakes, and goes on; an error is for what stops
	// it. It writes nothing.
	Generate(ctx context.Context, in *Input) ([]Artifact, error)
}

// Input is what generators read. Several of them may read it at the same time.
type Input struct {
	Roots    []*load.Package
	Source   *load.Source
	Markers  *marker.Collector
	Mistakes *diag.List
	// Doubts takes what is probably wrong but does not stop a run. Nil drops it.
	Doubts *diag.List
	// Review takes what the API server's own checks are to see. Nil drops it.
	Review func(Review)
}

// Doubt records something that is probably wrong.
func (in *Input) Doubt(m diag.Mistake) {
	if in.Doubts != nil {
		in.Doubts.Add(m)
	}
}

// Artifact is a file that a generator rendered.
type Artifact struct {
	// Package is the package that code belongs to; nil for a file of configuration.
	Package *load.Package
	// Name is the file's name. It may have directories, with slashes.
	Name string
	// Fixed has the file beside its package wherever other output goes; only the rule that nothing is written concerns it.
	Fixed bool
	Data  []byte
}

// HeaderFileHelp and YearHelp describe the options that [Header] takes its arguments from.
const (
	HeaderFileHelp = "is a file whose text, such as a license, is put at the head of what is generated."
	YearHelp       = `is what takes the place of " YEAR" in that text.`
)

// Header reads the file that a generator's headerFile option names, and puts year in the place of " YEAR". Without a file it is empty.
func Header(file, year string) (string, error) {
	if file == "" {
		return "", nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("headerFile: %w", err)
	}
	return strings.ReplaceAll(string(data), " YEAR", " "+year), nil
}
