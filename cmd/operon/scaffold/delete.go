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

// deleteOptions are what "operon delete api" and "operon delete webhook" take.
type deleteOptions struct {
	gvk
	force bool
}

// A removal is a plan that takes something out of a project.
type removal struct {
	set *fileset.Set
	// force takes files out that a person has changed.
	force bool
	// kept are the files that stay because they were changed.
	kept []string
	// needTypes says that something stays, a controller for example, and that it needs the types.
	needTypes bool
}

// file takes a file out if it is as it was made, and reports whether it is gone from the plan.
func (rm *removal) file(path, template string, data filling) (bool, error) {
	made, err := data.from().Render(template, data)
	if err != nil {
		return false, err
	}
	return rm.unchanged(path, made)
}

// unchanged takes a file out if its content is one of those that may have been made, or by force.
func (rm *removal) unchanged(path string, made ...string) (bool, error) {
	text, err := readIfThere(rm.set, path)
	if err != nil || text == "" {
		return err == nil, err
	}
	if !rm.force && !slices.ContainsFunc(made, func(made string) bool { return comparable(text) == comparable(made) }) {
		rm.kept = append(rm.kept, path)
		return false, nil
	}
	return true, rm.set.Remove(path)
}

// comparable is what of a file a person may have changed: not its head, and not what other verbs have put in.
func comparable(text string) string {
	if strings.HasPrefix(text, "/*") {
		_, text, _ = strings.Cut(text, "*/")
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line == "" || line == "// +kubebuilder:storageversion"
	})
	return strings.Join(lines, "\n")
}

// edit changes a file if it is there.
func (rm *removal) edit(path string, change func(string) (string, error)) error {
	if !rm.set.Exists(path) {
		return nil
	}
	return rm.set.Edit(path, func(text string) (string, error) {
		if strings.HasSuffix(path, ".go") {
			if err := splice.Valid(text); err != nil {
				return "", err
			}
		}
		return change(text)
	})
}

func (rm *removal) item(path, item string) error {
	return rm.edit(path, func(text string) (string, error) { return splice.RemoveItem(text, item), nil })
}

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
		if err == nil && rm.set.Exists(managerRole) {
			err = replace(rm.set, managerRole, role)
		}
		if err != nil {
			return nil, err
		}
	}
	return rm, saveProject(rm.set, p)
}

// managerRole is the file that make manifests writes from the markers of controllers.
const managerRole = "config/rbac/role.yaml"

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
		if err := rm.edit(main, func(src string) (string, error) {
			alias, ok := splice.ImportName(src, s.ControllerPath())
			if !ok {
				return src, nil
			}
			src, err := splice.RemoveStatement(src, alias+"."+data.Reconciler+"{")
			if err != nil {
				return "", err
			}
			return splice.RemoveUnusedImport(src, s.ControllerPath())
		}); err != nil {
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
	if err := rm.edit(s.ControllerSuite(), func(src string) (string, error) {
		alias, ok := splice.ImportName(src, s.APIPath())
		if !ok || s.Core {
			return src, nil
		}
		src, err := splice.RemoveStatement(src, alias+".AddToScheme(")
		if err != nil {
			return "", err
		}
		return splice.RemoveUnusedImport(src, s.APIPath())
	}); err != nil || inDir {
		return err
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

// sample takes out the sample, and the item that lists it; a sample that a person has filled in is kept, but not listed. Which version of the kind was the first when it was made, and so has no version in its
// sample's name, can't be told any more.
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
	return rm.item(layout.SampleKustomize, "- "+s.Sample())
}

// listed takes out a file, and the item that lists it, if it is as it was made.
func (rm *removal) listed(list, item, file, template string, data filling) error {
	if _, err := rm.file(file, template, data); err != nil {
		return err
	}
	return rm.item(list, item)
}

// emptied takes out the lists that nothing is in any more: kustomize refuses them.
func (rm *removal) emptied() error {
	for _, list := range []string{layout.CRDKustomization, layout.SampleKustomize} {
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
		if err := firstError(rm.set.Remove(layout.CRDKustomizeConfig), rm.item(layout.DefaultKustomize, "- ../crd")); err != nil {
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
	return rm.edit(main, func(src string) (string, error) {
		alias, ok := splice.ImportName(src, s.APIPath())
		if !ok {
			return src, nil
		}
		src, err := splice.RemoveStatement(src, alias+".AddToScheme(")
		if err != nil {
			return "", err
		}
		return splice.RemoveUnusedImport(src, s.APIPath())
	})
}

// deleteWebhook plans to take the webhooks of a kind out.
func deleteWebhook(p *project.Project, opts deleteOptions) (*removal, error) {
	if err := opts.gvk.check(); err != nil {
		return nil, err
	}
	r := p.Resource(opts.group, opts.version, opts.kind)
	if r == nil || r.Webhooks.Empty() {
		return nil, fmt.Errorf("%s has no webhooks in the project: PROJECT lists what has", opts.gvk)
	}
	rm := &removal{set: fileset.New(p.Root(), true), force: opts.force}
	s, err := subjectOf(rm.set, p, r)
	if err != nil {
		return nil, err
	}
	data := &webhookData{subject: s}
	if err := rm.admission(data); err != nil {
		return nil, err
	}
	if r.Webhooks.Conversion {
		if err := rm.conversion(data); err != nil {
			return nil, err
		}
	}
	main, err := mainFile(rm.set)
	if err != nil {
		return nil, err
	}
	if err := rm.edit(main, func(src string) (string, error) {
		// Webhooks of another version or group have the same name in their own package.
		alias, ok := splice.ImportName(src, s.WebhookPath())
		if !ok {
			return src, nil
		}
		src, err := splice.RemoveStatement(src, alias+"."+data.Setup()+"(")
		if err != nil {
			return "", err
		}
		return splice.RemoveUnusedImport(src, s.WebhookPath())
	}); err != nil {
		return nil, err
	}
	r.Webhooks = nil
	if r.API == nil && len(r.ControllerNames()) == 0 {
		p.Remove(r)
		if err := rm.scheme(s); err != nil {
			return nil, err
		}
	}
	admits := func(r *project.Resource) bool {
		return r.Webhooks != nil && (r.Webhooks.Defaulting || r.Webhooks.Validation)
	}
	switch {
	case !p.HasWebhooks():
		err = rm.webhookConfig(data)
	case !slices.ContainsFunc(p.Resources, admits) && !slices.Contains(rm.kept, data.WebhookFile()):
		err = firstError(rm.set.Remove(layout.WebhookManifests), rm.item(layout.WebhookKustomize, "- manifests.yaml"))
	}
	if err != nil {
		return nil, err
	}
	return rm, saveProject(rm.set, p)
}

// admission takes out the code of webhooks and its test.
func (rm *removal) admission(data *webhookData) error {
	made, err := data.inAnyOrder(data.source)
	if err != nil {
		return err
	}
	gone, err := rm.unchanged(data.WebhookFile(), made...)
	if err != nil {
		return err
	}
	tests, err := data.inAnyOrder(data.test)
	if err != nil {
		return err
	}
	if !gone {
		return nil
	}
	if gone, err = rm.unchanged(data.WebhookTest(), tests...); err == nil && !gone {
		err = fmt.Errorf("%s was changed, and tests webhooks that would go: --force removes it too", data.WebhookTest())
	}
	return err
}

// conversion takes out the code of conversions, and the patch that turns them on.
func (rm *removal) conversion(data *webhookData) error {
	if _, err := rm.file(data.ConversionFile(), "webhook/hub.go", data); err != nil {
		return err
	}
	for _, spoke := range data.spokes() {
		if _, err := rm.file(spoke.Spoke.ConversionFile(), "webhook/convertible.go", spoke); err != nil {
			return err
		}
	}
	made, err := data.conversions()
	if err != nil {
		return err
	}
	// A file of webhooks that stays needs the conversions.
	if !slices.Contains(rm.kept, data.WebhookFile()) {
		if _, err := rm.unchanged(data.ConverterFile(), made); err != nil {
			return err
		}
	}
	err = firstError(
		rm.set.Remove(data.CRDPatchFile()),
		rm.item(layout.CRDKustomization, "- path: "+data.CRDPatch()),
	)
	if err != nil || slices.ContainsFunc(data.project.Resources, func(r *project.Resource) bool {
		return r != data.Resource && r.Webhooks != nil && r.Webhooks.Conversion
	}) {
		return err
	}
	return firstError(
		rm.set.Remove(layout.CRDKustomizeConfig),
		rm.edit(layout.CRDKustomization, func(text string) (string, error) {
			return splice.RemoveEmptyList(splice.RemoveItem(text, "- kustomizeconfig.yaml"), "configurations"), nil
		}),
	)
}

// conversions is the file of the conversions as create webhook makes it.
func (d *webhookData) conversions() (string, error) {
	src, err := d.from().Render("webhook/conversion.go", d)
	for _, spoke := range d.spokes() {
		if err != nil {
			return "", err
		}
		src, err = spoke.converter(src)
	}
	return src, err
}
