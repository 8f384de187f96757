package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/operon-dev/operon/cmd/operon/generate/cache"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
)

// goVariables are the variables that decide what Go source means.
var goVariables = []string{
	"GOFLAGS", "GOWORK", "GOOS", "GOARCH", "GOROOT", "GOPATH", "GOMODCACHE", "GOENV", "GOEXPERIMENT", "HOME", "PATH",
}

// remembered returns the place for what is remembered of runs with these arguments; nil where nothing can be. A run that patches files
// reads what it writes, so it is never left out.
func (p *plan) remembered(args []string) *cache.Entry {
	if slices.ContainsFunc(p.steps, func(s step) bool { return s.name == "schemapatch" }) {
		return nil
	}
	here, err := os.Getwd()
	if err != nil {
		return nil
	}
	key := append([]string{here}, args...)
	for _, name := range goVariables {
		key = append(key, name+"="+os.Getenv(name))
	}
	program, err := programKey()
	if err != nil {
		return nil
	}
	entry, err := cache.Open(os.Getenv(cacheVariable), append(key, program...)...)
	if err != nil {
		return nil
	}
	return entry
}

// cacheVariable names the directory for what is remembered, where it is not the user's cache directory.
const cacheVariable = "OPERON_GENERATE_CACHE"

// programKey tells builds of the program apart: another may generate, or refuse, something else.
func programKey() ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	return []string{program, info.ModTime().String()}, nil
}

// dependencies are the paths that decided what a run wrote, and those that it wrote.
func (p *plan) dependencies(source *load.Source, out *output) []string {
	paths := source.Inputs()
	for _, s := range p.steps {
		v := reflect.ValueOf(s.generator)
		if f := v.FieldByName("HeaderFile"); f.IsValid() && f.Kind() == reflect.String && f.String() != "" {
			paths = append(paths, absolute(f.String()))
		}
	}
	for _, path := range out.order {
		paths = append(paths, absolute(path))
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
