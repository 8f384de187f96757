package scaffold

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
)

// deleteAPI plans to take a kind out: its types and its controllers.
func deleteAPI(p *project.Project, opts deleteOptions) (*removal, error) {
	if err := opts.gvk.check(); err != nil {
		return nil, err
	}
	r := p.Resource(opts.group, opts.version, opts.kind)
	if r == nil {
		return nil, fmt.Errorf("%s is not in the project: PROJECT lists what is", opts.gvk)
	}
	if !r.Webhooks.Empty() {
		return nil, fmt.Errorf("%s has webhooks: take them out first, with operon delete webhook", opts.gvk)
	}
	for _, other := range p.Versions(r.Group, r.Kind) {
		if other.Webhooks != nil && slices.Contains(other.Webhooks.Spoke, r.Version) {
			return nil, fmt.Errorf("%s is converted to and from version %s: take that out first, with operon delete webhook", opts.gvk, other.Version)
		}
	}
	rm := &removal{set: fileset.New(p.Root(), true), force: opts.force}
	s, err := subjectOf(rm.set, p, r)
	if err != nil {
		return nil, err
	}
	p.Remove(r)
	// Controllers of others' kinds may have been made before the project's setting of directories for groups was changed.
	for _, name := range s.ControllerNames() {
		if other := s.InOtherLayout(); !rm.set.Exists(s.ControllerFile(name)) && rm.set.Exists(other.ControllerFile(name)) {
			s.Names = other
		}
	}
	data := &apiData{subject: s, PathUp: up(s.ControllerDir()), Image: imageOf(p, r)}
	if err := p.SetImage(r, nil); err != nil {
		return nil, err
	}
	if err := rm.controllers(data); err != nil {
		return nil, err
	}
	if r.API != nil {
		if !rm.force && !rm.needTypes {
			if rm.needTypes, err = rm.used(s); err != nil {
				return nil, err
			}
		}
		if err := rm.types(data); err != nil {
			return nil, err
		}
	}
	if err := rm.scheme(s); err != nil {
		return nil, err
	}
	if !rm.needTypes && !slices.ContainsFunc(p.Resources, func(r *project.Resource) bool { return len(r.ControllerNames()) > 0 }) {
		// With no marker left to make a role of, make manifests leaves the last one there.
		role, err := templates.Set{}.Render("init/config/rbac/role.yaml", nil)
		if err == nil && rm.set.Exists(layout.ManagerRole) {
			err = replace(rm.set, layout.ManagerRole, role)
		}
		if err != nil {
			return nil, err
		}
	}
	return rm, saveProject(rm.set, p)
}

// controllers takes out a kind's controllers and has the manager run them no more.
func (rm *removal) controllers(data *apiData) error {
	s := data.subject
	main, err := mainFile(rm.set)
	if err != nil {
		return err
	}
	for _, name := range s.ControllerNames() {
		data.Reconciler, data.ControllerName = s.Reconciler(name), s.ControllerName(name)
		prefix := "api/"
		if data.Image.Name != "" && (name == "" || name == s.DefaultController()) {
			prefix = "api/image_"
		}
		gone, err := rm.file(s.ControllerFile(name), prefix+"controller.go", data)
		if err != nil {
			return err
		}
		if !gone {
			rm.needTypes = true
		} else {
			// A test without what it tests is of no use, but if a person wrote it, they say when it goes.
			if gone, err = rm.file(s.ControllerTest(name), prefix+"controller_test.go", data); err != nil {
				return err
			}
			if !gone {
				return fmt.Errorf("%s was changed, and tests a controller that would go: --force removes it too", s.ControllerTest(name))
			}
		}
		if err := rm.unwire(main, s.ControllerPath(), data.Reconciler+"{"); err != nil {
			return err
		}
	}
	return rm.suite(data)
}

// suite takes out what starts a control plane for the tests, when there is no controller left to test.
func (rm *removal) suite(data *apiData) error {
	s := data.subject
	others := func(same func(layout.Names) bool) bool {
		return slices.ContainsFunc(s.project.Resources, func(r *project.Resource) bool { return same(layout.Of(s.project, r)) })
	}
	inDir := others(func(n layout.Names) bool {
		return len(n.ControllerNames()) > 0 && n.ControllerDir() == s.ControllerDir()
	})
	samePackage := others(func(n layout.Names) bool { return n.APIPath() == s.APIPath() })
	if rm.needTypes || !rm.set.Exists(s.ControllerSuite()) || inDir && (s.Core || samePackage) {
		return nil
	}
	if !s.Core {
		if err := rm.unwire(s.ControllerSuite(), s.APIPath(), "AddToScheme("); err != nil {
			return err
		}
	}
	if inDir {
		return nil
	}
	if !rm.force && rm.testsBeside(s.ControllerSuite()) {
		rm.kept = append(rm.kept, s.ControllerSuite())
		return nil
	}
	_, err := rm.file(s.ControllerSuite(), "api/suite_test.go", data)
	return err
}

// testsBeside reports whether tests that stay are in the directory of a file.
func (rm *removal) testsBeside(file string) bool {
	beside, err := os.ReadDir(filepath.Join(rm.set.Root(), filepath.FromSlash(path.Dir(file))))
	return err == nil && slices.ContainsFunc(beside, func(entry fs.DirEntry) bool {
		name := path.Join(path.Dir(file), entry.Name())
		return strings.HasSuffix(name, "_test.go") && name != file && rm.set.Exists(name)
	})
}

// types takes out a kind's types, and what config has for them. They stay as long as something needs them that stays.
func (rm *removal) types(data *apiData) error {
	s := data.subject
	if rm.needTypes {
		rm.kept = append(rm.kept, s.Types())
		return rm.config(data)
	}
	info, err := readIfThere(rm.set, s.GroupVersionInfo())
	if err != nil {
		return err
	}
	if strings.Contains(info, "runtime.NewSchemeBuilder(") {
		data.Register = "func"
	}
	template := "api/types.go"
	if data.Image.Name != "" {
		template = "api/image_types.go"
	}
	gone, err := rm.file(s.Types(), template, data)
	if err != nil {
		return err
	}
	if gone && !rm.packageInUse(s) {
		if gone, err = rm.file(s.GroupVersionInfo(), "api/groupversion_info.go", data); err != nil {
			return err
		}
		if gone {
			err = rm.set.Remove(s.DeepCopy())
		}
		if err != nil {
			return err
		}
	}
	return rm.config(data)
}

// packageInUse reports whether other kinds of the project are in the package of a kind's types.
func (rm *removal) packageInUse(s *subject) bool {
	return slices.ContainsFunc(s.project.Resources, func(r *project.Resource) bool {
		return layout.Of(s.project, r).APIPath() == s.APIPath()
	})
}

// config takes out what config has for a kind: its sample, and with its last version the CRD and the roles.
func (rm *removal) config(data *apiData) error {
	s := data.subject
	if err := rm.sample(s, data); err != nil {
		return err
	}
	if len(s.project.Versions(s.Group, s.Kind)) > 0 {
		return nil
	}
	if err := rm.listed(layout.RBACKustomization, "- "+s.Roles(), s.RolesFile(), "api/roles.yaml", data); err != nil {
		return err
	}
	for _, role := range []string{"admin", "editor", "viewer"} { // Kubebuilder's
		file := strings.ReplaceAll(s.RolePrefix(), "-", "_") + "_" + role + "_role.yaml"
		if err := firstError(rm.item(layout.RBACKustomization, "- "+file), rm.set.Remove("config/rbac/"+file)); err != nil {
			return err
		}
	}
	if err := firstError(rm.set.Remove(s.CRDFile()), rm.item(layout.CRDKustomization, "- "+s.CRDBase())); err != nil {
		return err
	}
	return rm.emptied()
}

// sample takes out the sample, and the item that lists it; a sample that a person has filled in is kept, but not listed. Only the first version
// of a kind has no version in its sample's name, and which one was the first can't be told any more: so both names count as made.
func (rm *removal) sample(s *subject, data filling) error {
	made, err := data.from().Render("api/sample.yaml", data)
	if err != nil {
		return err
	}
	text, err := readIfThere(rm.set, s.SampleFile())
	if err != nil {
		return err
	}
	for _, name := range []string{s.firstSampleName(), s.laterSampleName()} {
		if line := "  name: " + name + "\n"; strings.Contains(text, line) {
			made = strings.Replace(made, "  name: "+s.SampleName()+"\n", line, 1)
		}
	}
	if _, err := rm.unchanged(s.SampleFile(), made); err != nil {
		return err
	}
	return rm.item(layout.SampleKustomization, "- "+s.Sample())
}

// emptied takes out the lists that nothing is in any more: kustomize refuses them.
func (rm *removal) emptied() error {
	for _, list := range []string{layout.CRDKustomization, layout.SampleKustomization} {
		text, err := readIfThere(rm.set, list)
		if err != nil {
			return err
		}
		if text == "" || len(splice.Items(text, "resources")) > 0 {
			continue
		}
		if err := rm.set.Remove(list); err != nil {
			return err
		}
		if list != layout.CRDKustomization {
			continue
		}
		if err := firstError(rm.set.Remove(layout.CRDKustomizeConfig), rm.item(layout.DefaultKustomization, "- ../crd")); err != nil {
			return err
		}
	}
	return nil
}

// scheme takes a package of types out of the manager's scheme, when no kind of the project is in it.
func (rm *removal) scheme(s *subject) error {
	if s.Core || rm.packageInUse(s) {
		return nil
	}
	main, err := mainFile(rm.set)
	if err != nil {
		return err
	}
	return rm.unwire(main, s.APIPath(), "AddToScheme(")
}
