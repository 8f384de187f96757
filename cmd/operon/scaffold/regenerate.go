package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
)

// Regenerate returns the files that init and create make for what a PROJECT file says, by their paths: the project as it would be if nobody had
// written in it. The library's origin and the head of Go files are as the project has them. What generators make is not among them.
//
// It is an error where the PROJECT file says what these verbs would refuse.
func Regenerate(p *project.Project, from origin.Origin, set templates.Set) (map[string]string, error) {
	dir, err := os.MkdirTemp("", "operon-scaffold-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := regeneration{of: p, dir: dir, templates: set}
	if err := r.init(from); err != nil {
		return nil, err
	}
	for _, resource := range p.Resources {
		if err := r.api(resource); err != nil {
			return nil, fmt.Errorf("%s %s: %w", resource.Version, resource.Kind, err)
		}
	}
	// Conversions are between kinds that are there.
	for _, resource := range p.Resources {
		if err := r.webhooks(resource); err != nil {
			return nil, fmt.Errorf("webhooks of %s %s: %w", resource.Version, resource.Kind, err)
		}
	}
	return r.files()
}

// A regeneration makes a project again, in an empty directory.
type regeneration struct {
	of        *project.Project
	dir       string
	made      *project.Project
	templates templates.Set
}

func (r *regeneration) init(from origin.Origin) error {
	if r.of.Repo == "" {
		return errors.New("it has no repo: add the path of the Go module")
	}
	opts := initOptions{
		domain: r.of.Domain, repo: r.of.Repo, projectName: r.of.ProjectName, license: "none", templates: r.templates, from: &from,
	}
	header, err := os.ReadFile(filepath.Join(r.of.Root(), filepath.FromSlash(layout.Boilerplate)))
	if err == nil {
		opts.header = string(header)
	}
	set, p, err := initProject(r.dir, opts)
	if err != nil {
		return err
	}
	r.made = p
	return set.Commit()
}

// settle has a kind made in the layout that it was made in, whatever the project's setting has become since. Of a kind that is not the project's, that is told
// by where a file of it is.
func (r *regeneration) settle(resource *project.Resource, file func(layout.Names) string) {
	names := layout.Of(r.of, resource)
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(r.of.Root(), filepath.FromSlash(path)))
		return err == nil
	}
	r.made.MultiGroup = r.of.MultiGroup
	if names.Own() {
		r.made.MultiGroup = strings.HasSuffix(resource.Path, "/"+resource.Group+"/"+resource.Version)
	} else if !exists(file(names)) && exists(file(names.InOtherLayout())) {
		r.made.MultiGroup = !r.of.MultiGroup
	}
}

// api makes a kind's types and controllers.
func (r *regeneration) api(resource *project.Resource) error {
	controllers := resource.ControllerNames()
	if resource.API == nil && len(controllers) == 0 {
		return nil
	}
	names := layout.Of(r.of, resource)
	r.settle(resource, func(n layout.Names) string {
		if len(controllers) == 0 {
			return n.Types()
		}
		return n.ControllerFile(controllers[0])
	})
	opts := apiOptions{
		gvk: gvk{resource.Group, resource.Version, resource.Kind}, plural: resource.Plural, templates: r.templates,
		resource: choice{set: true, value: resource.API != nil}, controller: choice{set: true, value: len(controllers) > 0},
		namespaced: resource.API == nil || resource.API.Namespaced, image: imageOf(r.of, resource),
	}
	if resource.External {
		opts.external = externalAPI{path: resource.Path, domain: resource.Domain, module: resource.Module}
	}
	for i := range max(len(controllers), 1) {
		if i > 0 {
			opts.resource.value, opts.image = false, image{}
		}
		if i < len(controllers) && controllers[i] != names.DefaultController() {
			opts.controllerName = controllers[i]
		} else {
			opts.controllerName = ""
		}
		set, _, err := createAPI(r.made, opts, nil)
		if err != nil {
			return err
		}
		if err := set.Commit(); err != nil {
			return err
		}
	}
	return nil
}

func (r *regeneration) webhooks(resource *project.Resource) error {
	w := resource.Webhooks
	if w.Empty() {
		return nil
	}
	opts := webhookOptions{
		gvk: gvk{resource.Group, resource.Version, resource.Kind}, plural: resource.Plural, templates: r.templates,
		defaulting: w.Defaulting, defaultingPath: w.DefaultingPath, validation: w.Validation, validationPath: w.ValidationPath,
		// Kubebuilder may have noted no spokes; then there is nothing of conversions to make.
		conversion: w.Conversion && len(w.Spoke) > 0, spokes: w.Spoke,
	}
	if resource.External {
		opts.external = externalAPI{path: resource.Path, domain: resource.Domain, module: resource.Module}
	}
	if !opts.defaulting && !opts.validation && !opts.conversion {
		return nil
	}
	// A scaffold from before the manager could make certificates is that for cert-manager, and the rest is a person's.
	if opts.certificates = certificatesOf(fileset.New(r.of.Root(), false)); !r.templates.Has(certificatesTemplate) {
		opts.certificates = ""
	}
	r.settle(resource, layout.Names.WebhookFile)
	set, _, err := createWebhook(r.made, opts)
	if err != nil {
		return err
	}
	return set.Commit()
}

// notScaffolded are files that verbs write, but that are kept by others: Go's, the generators', and PROJECT itself.
var notScaffolded = []string{"go.mod", "go.sum", project.FileName, layout.ManagerRole}

func (r *regeneration) files() (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(r.dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(notScaffolded, path) {
			return err
		}
		data, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(path)))
		files[path] = string(data)
		return err
	})
	return files, err
}
