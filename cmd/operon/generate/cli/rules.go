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
			Summary: "writes code and everything else to different places.",
			Details: "Code goes beside the package it belongs to, unless code names another directory. All else goes to the directory config.",
			Fields: map[string]string{
				"Config": "is the directory of what is not code.",
				"Code":   "is the directory of code; beside the package unless said otherwise.",
			},
		}),
		marker.Options(prefix+":dir", dir(""), marker.Help{
			Summary: "writes everything to one directory, code too.",
		}),
		marker.Options(prefix+":none", none{}, marker.Help{Summary: "writes nothing."}),
		marker.Options(prefix+":stdout", stdout{}, marker.Help{
			Summary: "prints everything, one after the other.",
			Details: "It is for what is a single file.",
		}),
	}
}

var pathsHelp = marker.Help{
	Summary: "names the packages that are read.",
	Details: `Several are separated by semicolons, or written {./api/...,./pkg/...}. A path that begins with a dot or a slash names directories,
and ./... goes into nested modules too; any other names packages by their import paths, like the go command.`,
}
