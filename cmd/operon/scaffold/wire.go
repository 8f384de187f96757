package scaffold

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
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

// wireScheme adds a kind's types to the manager's scheme. Kubernetes' own are there.
func wireScheme(set *fileset.Set, s *subject) error {
	if s.Core {
		return nil
	}
	return editMain(set, s.APIAlias(), s.APIPath(), func(src, name string) (string, error) {
		return splice.BeforeMarker(src, "scheme", fmt.Sprintf("utilruntime.Must(%s.AddToScheme(scheme))", name))
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
	s := data.subject
	recorder := ""
	if data.Image.Name != "" {
		get := "GetEventRecorderFor"
		if s.Typed {
			get = "GetEventRecorder"
		}
		recorder = fmt.Sprintf("\tRecorder: mgr.%s(%q),\n", get, data.ControllerName+"-controller")
	}
	return editMain(set, s.ControllerAlias(), s.ControllerPath(), func(src, name string) (string, error) {
		if strings.Contains(src, name+"."+data.Reconciler+"{") {
			return src, nil
		}
		return splice.BeforeMarker(src, "builder", fmt.Sprintf(`if err := (&%s.%s{
	Client: mgr.GetClient(),
	Scheme: mgr.GetScheme(),
%s}).SetupWithManager(mgr); err != nil {
	setupLog.Error(err, "no controller", "controller", %q)
	os.Exit(1)
}
`, name, data.Reconciler, recorder, data.ControllerName))
	})
}
