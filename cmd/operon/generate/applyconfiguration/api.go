package applyconfiguration

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/crd"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// suffix ends the names of configurations.
const suffix = "ApplyConfiguration"

// api is a package for whose types configurations are made.
type api struct {
	in  *generate.Input
	pkg *load.Package
	// dir is the directory for the output, relative to the package, and path its import path.
	dir, path string
	// version is the directory of the version below path, a group and a version.
	version string
	// group and versionName are those of the API.
	group, versionName string
	comments           *comments
	types              []*declared // sorted by lower-case name
	// configurations are the packages of the known configurations, this package's own among them.
	configurations map[typeName]string
	// schemas is nil where no root has a schema.
	schemas *schemas
}

// declared is a type of the package that gets a configuration.
type declared struct {
	shape    *shape
	tags     clientTags
	pos      token.Pos
	resource bool
}

func (d *declared) name() string { return d.shape.name.name }

// knownConfigurations are those that client-go has for the types of meta/v1.
func knownConfigurations() map[typeName]string {
	known := map[typeName]string{}
	for _, name := range []string{
		"Condition", "DeleteOptions", "LabelSelector", "LabelSelectorRequirement", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "TypeMeta",
	} {
		known[typeName{metaPackage, name}] = "k8s.io/client-go/applyconfigurations/meta/v1"
	}
	return known
}

// newAPI looks at the types of a package. It reports false where that is no version of an API.
func newAPI(in *generate.Input, pkg *load.Package, external map[typeName]string) (*api, bool) {
	a := &api{in: in, pkg: pkg, dir: DefaultDirectory, comments: newComments(pkg), configurations: maps.Clone(external)}
	values := in.Markers.Package(pkg)
	group, ok := marker.First[*string](values, groupMarker)
	if !ok {
		at := in.Markers.Occurrences(pkg, enableMarker)[0]
		in.Mistakes.Add(diag.Mistake{Pos: at.Pos, Len: at.Len, What: "the package has no API group, so its types have no apply configurations",
			Fix: "add +groupName=GROUP beside it"})
		return nil, false
	}
	if group != nil {
		a.group = *group
	}
	if out, ok := marker.First[Output](values, outputMarker); ok {
		a.dir = path.Clean(string(out))
	}
	a.path = path.Join(pkg.Path, a.dir)
	elements := strings.Split(pkg.Path, "/")
	a.versionName = elements[len(elements)-1]
	a.version = strings.ToLower(strings.Join(elements[max(0, len(elements)-2):], "/"))

	if a.optedOut() {
		return a, true
	}
	all := a.declaredTypes()
	reached := a.reached(all)
	if a.internal(all) {
		return a, true
	}
	for _, d := range all {
		if reached[d.shape.name] && len(fieldsOf(d.shape)) > 0 {
			a.configurations[d.shape.name] = path.Join(a.path, a.version)
		}
	}
	for _, d := range all {
		if _, ok := a.configurations[d.shape.name]; ok && (!d.tags.client || embeds(d.shape, objectMeta)) {
			a.types = append(a.types, d)
		}
	}
	slices.SortStableFunc(a.types, func(x, y *declared) int {
		return strings.Compare(strings.ToLower(x.name()), strings.ToLower(y.name()))
	})
	a.schemas = a.newSchemas(all)
	a.named()
	return a, true
}

// named warns of a package that does not declare the variable which the generated ForKind needs.
func (a *api) named() {
	if len(a.types) == 0 || a.pkg.Mentions("SchemeGroupVersion") {
		return
	}
	at := a.in.Markers.Occurrences(a.pkg, enableMarker)[0]
	a.in.Doubt(diag.Mistake{Pos: at.Pos, Len: at.Len,
		What: "apply configurations refer to the variable SchemeGroupVersion of this package, which does not declare it",
		Fix:  fmt.Sprintf("add var SchemeGroupVersion = schema.GroupVersion{Group: %q, Version: %q}, of k8s.io/apimachinery/pkg/runtime/schema", a.group, a.versionName)})
}

// optedOut reports whether the file doc.go of the package turns off the generator of that name of Kubernetes.
func (a *api) optedOut() bool {
	for _, file := range a.pkg.Syntax() {
		if filepath.Base(a.pkg.Fset().Position(file.FileStart).Filename) != "doc.go" {
			continue
		}
		for _, group := range file.Comments {
			if slices.Contains(textLines(group), "+k8s:applyconfiguration-gen=false") {
				return true
			}
		}
	}
	return false
}

// declaredTypes lists the types of the package, sorted by name.
func (a *api) declaredTypes() []*declared {
	tpkg, _ := a.pkg.Types()
	var out []*declared
	for _, name := range tpkg.Scope().Names() {
		obj, ok := tpkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || obj.IsAlias() {
			continue
		}
		if named, ok := obj.Type().(*types.Named); ok && named.TypeParams().Len() > 0 {
			continue // its instances stand for themselves
		}
		d := &declared{shape: shapeOf(obj.Type()), pos: obj.Pos()}
		lines := a.comments.all(obj.Pos())
		var err error
		var wrong *markerError
		if d.tags, err = parseClientTags(lines); errors.As(err, &wrong) {
			a.mistake(a.comments.find(obj.Pos(), wrong.text), len(wrong.text), wrong.fix, "%s", wrong.what)
		}
		if t := a.in.Markers.Type(a.pkg, name); t != nil {
			on, said := marker.First[Enable](t.Markers, enableMarker)
			if r, ok := marker.First[crd.Resource](t.Markers, resourceMarker); ok && (bool(on) || !said) {
				d.resource, d.tags.client = true, true
				d.tags.cluster = d.tags.cluster || r.Scope == "Cluster"
			}
		}
		out = append(out, d)
	}
	return out
}

// reached finds the types that the roots mention, directly or through others.
func (a *api) reached(all []*declared) map[typeName]bool {
	seen := map[typeName]bool{}
	var visit func(t types.Type)
	visit = func(t types.Type) {
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			name := nameOf(t)
			if seen[name] {
				return
			}
			seen[name] = true
			visit(t.Underlying())
		case *types.Struct:
			for f := range t.Fields() {
				visit(f.Type())
			}
		case *types.Pointer:
			visit(t.Elem())
		case *types.Slice:
			visit(t.Elem())
		case *types.Array:
			visit(t.Elem())
		case *types.Map:
			visit(t.Key())
			visit(t.Elem())
		}
	}
	for _, d := range all {
		if d.tags.applies() {
			visit(d.shape.typ)
		}
		for _, e := range d.tags.extensions {
			if e.verb != "apply" || e.input == "" {
				continue
			}
			for _, input := range all {
				if input.name() == e.input {
					visit(input.shape.typ)
				}
			}
		}
	}
	return seen
}

// internal tells packages of the internal version of an API, whose metadata has no json tag: nobody applies those.
func (a *api) internal(all []*declared) bool {
	for _, d := range all {
		if d.shape.form != structure {
			continue
		}
		st := d.shape.typ.Underlying().(*types.Struct)
		for i := range st.NumFields() {
			if st.Field(i).Name() == objectMeta.name {
				_, tagged := readTag(objectMeta.name, true, st.Tag(i))
				return !tagged
			}
		}
	}
	return false
}

// configuration is what stands for a type in configurations: the configuration of a struct, also below a pointer, in a list or as the values of a
// map; and else the type.
func (a *api) configuration(s *shape) *shape {
	switch s.form {
	case structure:
		if pkg, ok := a.configurations[s.name]; ok {
			return &shape{form: structure, name: typeName{pkg, s.name.name + suffix}}
		}
	case pointer:
		return a.configuration(s.elem)
	case list:
		if a.known(s.elem.name) {
			return &shape{form: list, elem: a.configuration(s.elem)}
		}
	case mapping:
		if a.known(s.elem.name) {
			return &shape{form: mapping, key: a.configuration(s.key), elem: a.configuration(s.elem)}
		}
	}
	return s
}

func (a *api) known(name typeName) bool {
	_, ok := a.configurations[name]
	return ok
}

// configured reports whether a type, or what it points to, has a configuration.
func (a *api) configured(s *shape) bool {
	s = s.deref()
	return s.form == structure && a.known(s.name)
}

func (a *api) mistake(pos token.Pos, length int, fix, format string, args ...any) {
	a.in.Mistakes.Add(diag.Mistake{Pos: a.pkg.Fset().Position(pos), Len: length, What: fmt.Sprintf(format, args...), Fix: fix})
}

// shares warns of another package with the same output directory, whose common files go.
func (a *api) shares(other *load.Package) {
	for _, at := range a.in.Markers.Occurrences(a.pkg, outputMarker) {
		a.in.Doubt(diag.Mistake{Pos: at.Pos, Len: at.Len,
			What: fmt.Sprintf("the apply configurations of package %s go to the same directory, where ForKind and the schemas of this package replace its own", other.Path),
			Fix:  "name a directory for this package alone"})
	}
}

// apiVersion is the group and version of the objects.
func (a *api) apiVersion() string {
	if a.group == "" {
		return a.versionName
	}
	return a.group + "/" + a.versionName
}
