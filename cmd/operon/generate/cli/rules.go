package cli

import (
	"path/filepath"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// rule says where an artifact goes.
type rule interface {
	// place returns the file's path. The empty path is standard output, and ok is false for nowhere.
	place(a generate.Artifact) (path string, ok bool)
}

// dir puts everything into one directory.
type dir string

func (d dir) place(a generate.Artifact) (string, bool) {
	return filepath.Join(string(d), filepath.FromSlash(a.Name)), true
}

// artifacts puts code beside the package that it belongs to, and configuration into a directory.
type artifacts struct {
	// Config is the directory for configuration.
	Config string
	// Code is the directory for code. Empty means beside the package.
	Code string `marker:",optional"`
}

func (r artifacts) place(a generate.Artifact) (string, bool) {
	base := r.Config
	if a.Package != nil {
		if base = r.Code; base == "" {
			base = a.Package.Dir
		}
	}
	return filepath.Join(base, filepath.FromSlash(a.Name)), true
}

// stdout prints everything, with no separation.
type stdout struct{}

func (stdout) place(generate.Artifact) (string, bool) { return "", true }

// none drops everything.
type none struct{}

func (none) place(generate.Artifact) (string, bool) { return "", false }

// ruleDefinitions are the output rules below a prefix.
func ruleDefinitions(prefix string) []marker.Definition {
	return []marker.Definition{
		marker.Options(prefix+":artifacts", artifacts{}, marker.Help{
			Summary: "outputs artifacts to different locations, depending on whether they're package-associated or not.",
			Details: "Code goes beside the package it belongs to, unless code names another directory. All else goes to the directory config.",
			Fields: map[string]string{
				"Config": "points to the directory to which to write configuration.",
				"Code":   "overrides the directory in which to write new code (defaults to where the existing code lives).",
			},
		}),
		marker.Options(prefix+":dir", dir(""), marker.Help{
			Summary: "outputs each artifact to the given directory, regardless of if it's package-associated or not.",
		}),
		marker.Options(prefix+":none", none{}, marker.Help{Summary: "skips outputting anything."}),
		marker.Options(prefix+":stdout", stdout{}, marker.Help{
			Summary: "outputs everything to standard-out, with no separation.",
			Details: "Generally useful for single-artifact outputs.",
		}),
	}
}

var pathsHelp = marker.Help{
	Summary: "represents the package roots that are the input for code generation.",
	Details: `Several are separated by semicolons, or written {./api/...,./pkg/...}. A path that begins with a dot or a slash names directories,
and ./... goes into nested modules too; any other names packages by their import paths, like the go command.`,
}
