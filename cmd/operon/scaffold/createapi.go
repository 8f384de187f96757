package scaffold

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/review"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
)

// apiOptions are what "operon create api" takes.
type apiOptions struct {
	gvk
	external             externalAPI
	plural               string
	resource, controller choice
	controllerName       string
	namespaced           bool
	image                image
	force                bool
	// templates are what the files are made from.
	templates templates.Set
}

// image is what a controller is to run, where it is to be written out.
type image struct {
	Name    string
	Command []string
	Port    int32
	User    int64
}

// defaultUser is who the container of an image runs as: not root, as the pods' security context demands.
const defaultUser = 1001

// note is the image as the PROJECT file has it.
func (i image) note() *project.Image {
	note := &project.Image{Image: i.Name, ContainerCommand: strings.Join(i.Command, ",")}
	if i.Port != 0 {
		note.ContainerPort = strconv.Itoa(int(i.Port))
	}
	if i.User != defaultUser {
		note.RunAsUser = strconv.FormatInt(i.User, 10)
	}
	return note
}

// imageOf is the image that the PROJECT file has for a kind, or none.
func imageOf(p *project.Project, r *project.Resource) image {
	note, ok := p.ImageOf(r)
	if !ok {
		return image{}
	}
	port, _ := strconv.ParseInt(note.ContainerPort, 10, 32)
	user, err := strconv.ParseInt(note.RunAsUser, 10, 64)
	if err != nil {
		user = defaultUser
	}
	return image{Name: note.Image, Command: words(note.ContainerCommand), Port: int32(port), User: user}
}

// A choice is a flag that is asked for where it isn't set.
type choice struct {
	set, value bool
}

// decide returns what was chosen: on the command line, or in answer to a question, or else what is usual.
func (c choice) decide(ask review.Asker, question string, usual bool) (bool, error) {
	if c.set {
		return c.value, nil
	}
	if ask == nil {
		return usual, nil
	}
	return ask(question)
}

// apiData is what the templates of an API are filled in with.
type apiData struct {
	*subject
	// Register is "func" where SchemeBuilder takes functions.
	Register string
	// Reconciler is the Go type of the controller, ControllerName its name, PathUp the way from its directory to the root.
	Reconciler, ControllerName, PathUp string
	Image                              image
}

func (o apiOptions) check() error {
	err := firstError(o.gvk.check(), layout.CheckPlural(o.plural), layout.CheckControllerName(o.controllerName), o.external.check())
	switch {
	case err != nil:
		return err
	case o.external.path != "" && o.resource.set && o.resource.value:
		return errors.New("--resource and --external-api-path contradict each other: the types are either the project's or another's")
	case o.image.Name == "" && (len(o.image.Command) > 0 || o.image.Port != 0 || o.image.User != 0):
		return errors.New("--image-container-command, --image-container-port and --run-as-user need --image: give that too")
	case o.image.Port < 0 || o.image.Port > 65535:
		return fmt.Errorf("--image-container-port %d is not a port: use 1 to 65535", o.image.Port)
	case o.image.Name != "" && strings.ContainsAny(o.image.Name, " \"\\\n"):
		return fmt.Errorf("--image %q is not the name of an image: use one such as memcached:1.6.39-alpine", o.image.Name)
	case o.image.Name != "" && !o.namespaced:
		return errors.New("--image makes a Deployment beside each object, and --namespaced=false leaves no namespace for it: leave one of them out")
	case o.image.Name != "" && o.external.path != "":
		return errors.New("--image writes types and a controller, and --external-api-path says that there are types: leave one of them out")
	}
	return nil
}

// parts decides what to make, and asks where flags and the project leave it open.
func (o apiOptions) parts(p *project.Project, ask review.Asker) (types, controller bool, err error) {
	// An image is run by a controller that is written with its types.
	if o.image.Name != "" {
		return true, true, nil
	}
	there := p.Resource(o.group, o.version, o.kind)
	// There is nothing to ask where the types are there already, or somebody else's.
	if o.external.path == "" && (there == nil || o.resource.set || there.API != nil && o.force) {
		if types, err = o.resource.decide(ask, "Create Resource [y/n]", true); err != nil {
			return false, false, err
		}
	}
	// One controller is enough for all versions of a kind.
	usual := !slices.ContainsFunc(p.Versions(o.group, o.kind), func(r *project.Resource) bool {
		return r != there && r.HasController(o.controllerName, layout.Of(p, r).DefaultController())
	})
	controller, err = o.controller.decide(ask, "Create Controller [y/n]", usual)
	return types, controller, err
}

// checkParts says why these parts of a resource are not to be made.
func (o apiOptions) checkParts(r layout.Names, types, controller bool) error {
	has := r.API != nil
	switch {
	case !types && !controller:
		return errors.New("neither a resource nor a controller was asked for: there is nothing to create")
	case types && has && !o.force:
		return fmt.Errorf("%s is there already: add a controller with --resource=false, or write both anew with --force", o.gvk)
	case types && !r.Own():
		return fmt.Errorf("%s is not the project's: leave --resource out", o.gvk)
	case !types && !has && r.Own():
		return fmt.Errorf("%s has no types in this project, nor in Kubernetes: create them with --resource, or name their package with --external-api-path", o.gvk)
	case controller && !o.force && r.HasController(o.controllerName, r.DefaultController()):
		return fmt.Errorf("%s has that controller already: give the new one a name with --controller-name, or write it anew with --force", o.gvk)
	}
	return nil
}

// createAPI plans a kind: its types, its controller, or both.
func createAPI(p *project.Project, opts apiOptions, ask review.Asker) (*fileset.Set, *project.Resource, error) {
	if err := opts.check(); err != nil {
		return nil, nil, err
	}
	makeResource, makeController, err := opts.parts(p, ask)
	if err != nil {
		return nil, nil, err
	}
	r, known := resolve(p, opts.gvk, opts.external, makeResource)
	if err := opts.checkParts(layout.Of(p, r), makeResource, makeController); err != nil {
		return nil, nil, err
	}
	if makeResource {
		if err := checkGroups(p, opts.group); err != nil {
			return nil, nil, err
		}
		r.API = &project.API{CRDVersion: "v1", Namespaced: opts.namespaced}
		if r.Plural = opts.plural; opts.plural == layout.RegularPlural(r.Kind) {
			r.Plural = ""
		}
		for _, other := range p.Versions(r.Group, r.Kind) {
			if opts.plural == "" && other.API != nil {
				r.Plural = other.Plural
			}
		}
	}
	if !known {
		p.Add(r)
	}
	if opts.image.Name != "" {
		opts.image.User = cmp.Or(opts.image.User, defaultUser)
		if err := p.SetImage(r, opts.image.note()); err != nil {
			return nil, nil, err
		}
	}
	set := fileset.New(p.Root(), opts.force)
	s, err := subjectOf(set, p, r)
	if err != nil {
		return nil, nil, err
	}
	s.templates = opts.templates
	data := apiData{subject: s, Image: opts.image}
	if makeResource {
		if err := planTypes(set, &data); err != nil {
			return nil, nil, err
		}
	}
	if makeController {
		data.Reconciler, data.ControllerName = s.Reconciler(opts.controllerName), s.ControllerName(opts.controllerName)
		data.PathUp = up(s.ControllerDir())
		if err := planController(set, &data, opts.controllerName); err != nil {
			return nil, nil, err
		}
		r.AddController(opts.controllerName, s.DefaultController())
	}
	if err := wireScheme(set, s); err != nil {
		return nil, nil, err
	}
	return set, r, saveProject(set, p)
}

// planTypes plans the types of a kind, and what config has for them.
func planTypes(set *fileset.Set, data *apiData) error {
	s := data.subject
	info, err := readIfThere(set, s.GroupVersionInfo())
	if err != nil {
		return err
	}
	// Since v4.12 or so, Kubebuilder's SchemeBuilder is apimachinery's, which takes functions.
	if strings.Contains(info, "runtime.NewSchemeBuilder(") || strings.Contains(info, "runtime.SchemeBuilder{") {
		data.Register = "func"
	}
	template := "api/types.go"
	if data.Image.Name != "" {
		template = "api/image_types.go"
	}
	if err := create(set, s.Types(), template, data); err != nil {
		return err
	}
	if info == "" {
		if err := create(set, s.GroupVersionInfo(), "api/groupversion_info.go", data); err != nil {
			return err
		}
	}
	for _, file := range []struct{ path, template string }{
		{s.SampleFile(), "api/sample.yaml"},
		{s.RolesFile(), "api/roles.yaml"},
	} {
		// The second version of a kind has the roles of the first; Kubebuilder's are in three files.
		if file.path == s.RolesFile() && (set.Exists(file.path) || set.Exists(strings.Replace(file.path, "_roles", "_editor_role", 1))) {
			continue
		}
		if err := create(set, file.path, file.template, data); err != nil {
			return err
		}
	}
	return firstError(
		planLists(set, data),
		markStorageVersion(set, s),
	)
}

// planLists adds a kind's files to the kustomizations.
func planLists(set *fileset.Set, data *apiData) error {
	s := data.subject
	for _, list := range []struct{ path, template, marker, item string }{
		{layout.CRDKustomization, "api/crd_kustomization.yaml", "crdkustomizeresource", "- " + s.CRDBase()},
		{layout.SampleKustomization, "api/samples_kustomization.yaml", "manifestskustomizesamples", "- " + s.Sample()},
	} {
		if !set.Exists(list.path) {
			if err := create(set, list.path, list.template, data); err != nil {
				return err
			}
		}
		if err := set.Edit(list.path, func(text string) (string, error) {
			if splice.HasItem(text, list.item) {
				return text, nil
			}
			if edited, err := splice.BeforeMarker(text, list.marker, list.item); err == nil {
				return edited, nil
			}
			return splice.EnsureItem(text, "resources", list.item)
		}); err != nil {
			return err
		}
	}
	if set.Exists(s.RolesFile()) {
		if err := ensureItem(set, layout.RBACKustomization, "resources", "- "+s.Roles()); err != nil {
			return err
		}
	}
	return ensureItem(set, layout.DefaultKustomization, "resources", "- ../crd")
}

func ensureItem(set *fileset.Set, path, key, item string) error {
	return set.Edit(path, func(text string) (string, error) { return splice.EnsureItem(text, key, item) })
}

// markStorageVersion sees to it that one of several versions of a kind is the one that is stored, as the API server demands: the
// oldest of the project, until somebody moves the marker.
func markStorageVersion(set *fileset.Set, s *subject) error {
	const marker = "// +kubebuilder:storageversion"
	versions := slices.DeleteFunc(s.project.Versions(s.Group, s.Kind), func(r *project.Resource) bool { return r.API == nil })
	if len(versions) < 2 {
		return nil
	}
	for _, r := range versions {
		if text, err := set.Read(layout.Of(s.project, r).Types()); err == nil && strings.Contains(text, marker) {
			return nil
		}
	}
	types := layout.Of(s.project, versions[0]).Types()
	if !set.Exists(types) {
		return nil
	}
	return set.Edit(types, func(text string) (string, error) { return splice.AddToDeclaration(text, s.Kind, marker) })
}

// planController plans a controller and its test.
func planController(set *fileset.Set, data *apiData, name string) error {
	s := data.subject
	prefix := "api/"
	if data.Image.Name != "" {
		prefix = "api/image_"
	}
	err := firstError(
		create(set, s.ControllerFile(name), prefix+"controller.go", data),
		create(set, s.ControllerTest(name), prefix+"controller_test.go", data),
	)
	if err != nil {
		return err
	}
	if !set.Exists(s.ControllerSuite()) {
		if err := create(set, s.ControllerSuite(), "api/suite_test.go", data); err != nil {
			return err
		}
	}
	if !s.Core {
		if err := addToSuite(set, s.ControllerSuite(), s); err != nil {
			return err
		}
	}
	return wireController(set, data)
}
