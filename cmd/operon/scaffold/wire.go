package scaffold

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
)

// editMain changes the file that starts the manager, given the name that an import has there.
func editMain(set *fileset.Set, alias, path string, edit func(src, name string) (string, error)) error {
	main, err := mainFile(set)
	if err != nil {
		return err
	}
	return editImporting(set, main, alias, path, edit)
}

// editImporting imports a package into a file, and changes the file under the name that the package has there.
func editImporting(set *fileset.Set, file, alias, path string, edit func(src, name string) (string, error)) error {
	return set.Edit(file, func(src string) (string, error) {
		src, name, err := splice.AddImport(src, alias, path)
		if err != nil {
			return "", err
		}
		if src, err = edit(src, name); err != nil {
			return "", err
		}
		return splice.Format(src)
	})
}

// wiring is what the templates are filled in with that become lines of the file which starts the manager.
type wiring[T filling] struct {
	Of T
	// Package is the name that the subject's package has in that file.
	Package string
}

// wire adds, before a marker in the file that starts the manager, the lines that a template makes for a package, unless there is a phrase that
// they would repeat.
func wire[T filling](set *fileset.Set, template, marker, alias, path string, data T, repeats func(name string) string) error {
	return editMain(set, alias, path, func(src, name string) (string, error) {
		if splice.Has(src, repeats(name)) {
			return src, nil
		}
		lines, err := data.from().Render(template, wiring[T]{data, name})
		if errors.Is(err, fs.ErrNotExist) {
			// Before they were templates these lines were the same in all scaffolds.
			lines, err = templates.Set{}.Render(template, wiring[T]{data, name})
		}
		if err != nil {
			return "", err
		}
		return splice.BeforeMarker(src, marker, lines)
	})
}

// wireScheme adds a kind's types to the manager's scheme. Kubernetes' own are there.
func wireScheme(set *fileset.Set, s *subject) error {
	if s.Core {
		return nil
	}
	return wire(set, "main/scheme", "scheme", s.APIAlias(), s.APIPath(), s, func(name string) string {
		return "(" + name + ".AddToScheme(scheme))"
	})
}

// addToSuite adds a kind's types to the scheme of a package's tests.
func addToSuite(set *fileset.Set, suite string, s *subject) error {
	return editImporting(set, suite, s.APIAlias(), s.APIPath(), func(src, name string) (string, error) {
		return splice.BeforeMarker(src, "scheme", fmt.Sprintf("Expect(%s.AddToScheme(scheme.Scheme)).To(Succeed())\n", name))
	})
}

// wireController has the manager run a controller.
func wireController(set *fileset.Set, data *apiData) error {
	return wire(set, "main/controller", "builder", data.ControllerAlias(), data.ControllerPath(), data, func(name string) string {
		return name + "." + data.Reconciler + "{"
	})
}

// wireWebhook has the manager serve the webhooks.
func wireWebhook(set *fileset.Set, data *webhookData) error {
	return wire(set, "main/webhook", "builder", data.WebhookAlias(), data.WebhookPath(), data, func(name string) string {
		return name + "." + data.Setup() + "("
	})
}
