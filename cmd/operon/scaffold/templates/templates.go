package templates

import (
	"embed"
	"fmt"
	"go/format"
	"path"
	"strings"
	"text/template"
)

//go:embed init api webhook
var files embed.FS

// Render fills in the template of a name, as in "init/main.go".
func Render(name string, data any) (string, error) {
	// What templates share is defined in kind.go.tmpl.
	tmpl, err := template.ParseFS(files, name+".tmpl", "api/kind.go.tmpl")
	if err != nil {
		return "", err
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
