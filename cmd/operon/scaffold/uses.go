package scaffold

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
)

// used reports whether a Go file that stays names the type of a kind: webhooks that a person has written in, another kind's controller. Without the
// type it would not compile. Files in the type's own package are not looked at.
func (rm *removal) used(s *subject) (bool, error) {
	found := false
	err := filepath.WalkDir(rm.set.Root(), func(full string, d fs.DirEntry, err error) error {
		relative, relErr := filepath.Rel(rm.set.Root(), full)
		name := filepath.ToSlash(relative)
		switch {
		case err != nil || relErr != nil:
			return nil // what cannot be read is nothing that go compiles
		case d.IsDir() && name != "." && otherModule(full):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || path.Dir(name) == s.APIDir() || !rm.set.Exists(name):
			return nil
		}
		src, err := rm.set.Read(name)
		if err != nil {
			return err
		}
		if !strings.Contains(src, s.APIPath()) {
			return nil
		}
		alias, ok := splice.ImportName(src, s.APIPath())
		if ok && regexp.MustCompile(`\b`+regexp.QuoteMeta(alias)+`\.`+s.Kind+`(List)?\b`).MatchString(src) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}

// otherModule reports whether a directory, other than the project's, is one that the go command passes over for ./..., or holds a module of its own.
func otherModule(dir string) bool {
	name := filepath.Base(dir)
	if name == "vendor" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
