package load

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// inputs gathers the paths that decided what a source found: files that were read, directories that were listed, and files that
// were looked for in vain.
type inputs struct {
	// fixed are directories whose content never changes, because their path names it: the module cache and the Go installation.
	fixed []string

	mu    sync.Mutex
	paths map[string]bool
}

func newInputs(moduleCache, goroot string) *inputs {
	in := &inputs{paths: map[string]bool{}}
	for _, dir := range []string{moduleCache, goroot} {
		if dir != "" {
			in.fixed = append(in.fixed, dir+string(os.PathSeparator))
		}
	}
	if goroot != "" {
		in.paths[filepath.Join(goroot, "VERSION")] = true
	}
	return in
}

func (in *inputs) note(path string) {
	for _, dir := range in.fixed {
		if strings.HasPrefix(path, dir) {
			return
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.paths[path] = true
}

// Inputs returns the paths on which what was loaded so far depends, sorted: files, directories whose list of entries counts, and files that were
// not there. What lies in the module cache and in the Go installation is left out, as its content follows from its path.
func (s *Source) Inputs() []string {
	s.inputs.mu.Lock()
	defer s.inputs.mu.Unlock()
	out := make([]string, 0, len(s.inputs.paths))
	for path := range s.inputs.paths {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}
