package templates

import (
	"embed"
	"fmt"
	"go/format"
	"io/fs"
	"path"
	"strings"
	"text/template"
)

//go:embed init api webhook main
var files embed.FS

// A Set is the templates of one scaffold. The zero value is the one of this command.
type Set struct {
	// Name is what people know the scaffold by; empty for that of this command.
	Name string

	files fs.FS
}

// FromFS returns the templates below a directory tree that is laid out as this package's.
func FromFS(name string, files fs.FS) Set { return Set{Name: name, files: files} }

// Has reports whether the set has the template of a name.
func (s Set) Has(name string) bool {
	_, err := fs.Stat(s.tree(), name+".tmpl")
	return err == nil
}

func (s Set) tree() fs.FS {
	if s.files == nil {
		return files
	}
	return s.files
}

// Render fills in the template of a name, as in "init/main.go". The error is fs.ErrNotExist where the set has none of that name.
func (s Set) Render(name string, data any) (string, error) {
	from := s.tree()
	if _, err := fs.Stat(from, name+".tmpl"); err != nil {
		return "", err
	}
	// What templates share is defined in kind.go.tmpl.
	tmpl, err := template.ParseFS(from, name+".tmpl", "api/kind.go.tmpl")
	if err != nil {
		return "", fmt.Errorf("template %s: %w", name, err)
	}
	var b strings.Builder
	if err := tmpl.ExecuteTemplate(&b, path.Base(name)+".tmpl", data); err != nil {
		return "", err
	}
	if !strings.HasSuffix(name, ".go") {
		return b.String(), nil
	}
	formatted, err := format.Source([]byte(b.String()))
	if err != nil {
		return "", fmt.Errorf("template %s: %w\n%s", name, err, b.String())
	}
	return string(formatted), nil
}
