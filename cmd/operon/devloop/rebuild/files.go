package rebuild

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/devloop/stamp"
)

// errUnplanned is why a plan cannot be followed: something is not as it was when it was made.
var errUnplanned = errors.New("not as planned")

type digest = [sha256.Size]byte

// sources are files by their paths.
type sources map[string]stamp.Stamp

func (s sources) add(path string) { s[path] = stamp.Of(path) }

// same reports whether all files are as they were.
func (s sources) same() bool {
	for path, before := range s {
		if stamp.Of(path) != before {
			return false
		}
	}
	return true
}

// A state is what a unit's directory holds that a build may look at.
type state struct {
	code   sources           // the Go files that are compiled
	begins map[string]digest // and how they begin: up to the end of the imports
	other  sources           // all other files
}

// read returns the state of the unit's directory as it is now.
func (u *unit) read() (state, error) {
	s := state{code: sources{}, begins: map[string]digest{}, other: sources{}}
	for _, name := range u.goFiles {
		path := filepath.Join(u.dir, name)
		s.code.add(path)
		var err error
		if s.begins[path], err = beginning(path); err != nil {
			return s, err
		}
	}
	return s, u.readOther(s.other)
}

// readOther adds the files that are not compiled but may have a part in whether or how the others are.
func (u *unit) readOther(other sources) error {
	return filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != u.dir && !u.tree:
			return fs.SkipDir
		case d.IsDir():
			return nil
		case filepath.Dir(path) == u.dir && (slices.Contains(u.goFiles, d.Name()) || !u.tree && !counts(d.Name())):
			return nil
		}
		other.add(path)
		return nil
	})
}

// counts reports whether the go command looks at a file of a package in which nothing is embedded.
func counts(name string) bool {
	if name[0] == '_' || name[0] == '.' || strings.HasSuffix(name, "_test.go") {
		return false
	}
	switch filepath.Ext(name) {
	case ".go", ".s", ".S", ".sx", ".c", ".cc", ".cpp", ".cxx", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".F", ".for", ".f90", ".swig", ".swigcxx", ".syso":
		return true
	}
	return false
}

// changed compares the unit with what it was: whether it is to be compiled, and its state then. It returns errUnplanned when that is not all
// there is to do.
func (u *unit) changed() (bool, state, error) {
	other := sources{}
	if err := u.readOther(other); err != nil || !maps.Equal(other, u.state.other) {
		return false, state{}, errors.Join(errUnplanned, err)
	}
	now, changed := state{sources{}, maps.Clone(u.state.begins), other}, false
	for path, before := range u.state.code {
		now.code.add(path)
		if now.code[path] == before {
			continue
		}
		changed = true
		begins, err := beginning(path)
		if err != nil || begins != u.state.begins[path] {
			return false, state{}, errors.Join(fmt.Errorf("%w: %s begins in another way", errUnplanned, path), err)
		}
	}
	if changed && u.compile == nil {
		return false, state{}, fmt.Errorf("%w: %s is not of Go files alone", errUnplanned, u.path)
	}
	return changed, now, nil
}

// beginning is the digest of a Go file up to the end of its imports. Build constraints, directives for the go command and imports are there.
func beginning(path string) (digest, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return digest{}, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.ImportsOnly)
	if err != nil {
		return digest{}, err
	}
	end := file.Name.End()
	for _, d := range file.Decls {
		end = max(end, d.End())
	}
	return sha256.Sum256(text[:files.Position(end).Offset]), nil
}
