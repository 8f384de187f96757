package conversion

import (
	"context"
	"fmt"
	"go/format"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// FileName is the name of the generated file in each package.
const FileName = "zz_generated.conversion.go"

// Generator generates conversions. Its zero value generates them without a header.
type Generator struct {
	// HeaderFile is the path of a file whose text is put at the head of the generated files.
	HeaderFile string `marker:",optional"`
	// Year replaces " YEAR" in the header's text.
	Year string `marker:",optional"`
}

// Help describes the generator and its options.
func Help() marker.Help {
	return marker.Help{
		Summary: "generates ConvertTo and ConvertFrom between the versions of a kind, for packages and types with +operon:conversion:hub.",
		Details: "controller-gen has no such generator.",
		Fields: map[string]string{
			"HeaderFile": generate.HeaderFileHelp,
			"Year":       generate.YearHelp,
		},
	}
}

// Generate returns a file for each of the root packages with kinds that are converted.
func (g Generator) Generate(ctx context.Context, in *generate.Input) ([]generate.Artifact, error) {
	header, err := generate.Header(g.HeaderFile, g.Year)
	if err != nil {
		return nil, err
	}
	var files []generate.Artifact
	for _, pkg := range in.Roots {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !pkg.Mentions("+" + hubMarker) {
			continue
		}
		c := &converter{in: in, pkg: pkg, done: map[string]bool{}, names: map[string]string{}, taken: map[string]bool{}}
		if !c.convertKinds() {
			continue
		}
		data, err := c.bytes(header)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", pkg.Path, FileName, err)
		}
		files = append(files, generate.Artifact{Package: pkg, Name: FileName, Data: data})
	}
	return files, nil
}

// converter writes the conversions of a package.
type converter struct {
	in   *generate.Input
	pkg  *load.Package
	hand *handwritten

	imports imports
	body    strings.Builder
	// queue holds the pairs that are mentioned and not yet written; done the names of those that were mentioned.
	queue []pair
	done  map[string]bool
	// names are the functions of pairs by their keys; taken are those names.
	names map[string]string
	taken map[string]bool
}

// kind is a kind of the package with its hub.
type kind struct {
	name       string
	pos        token.Pos
	hub        *load.Package
	from, to   *types.Named // in this package, in the hub's
	conversion string       // the import path of the package with the interfaces
}

// wish is a kind that a marker wants converted.
type wish struct {
	name    string
	hub     string
	hubName string       // of the kind in the hub
	at      diag.Mistake // where the marker is
	certain bool         // the kind itself is marked
}

// convertKinds writes the conversions of all kinds, and reports whether there are any.
func (c *converter) convertKinds() bool {
	wishes := c.wishes()
	hubs := map[string]*load.Package{}
	packages := []*load.Package{c.pkg}
	for _, w := range wishes {
		if hubs[w.hub] != nil {
			continue
		}
		hub, err := c.pkg.Import(w.hub)
		if err == nil && hub == c.pkg {
			err = fmt.Errorf("it is the package itself")
		}
		if err != nil {
			w.at.What = fmt.Sprintf("%s is no hub: %v", w.hub, err)
			w.at.Fix = "name the package of the hub version by its import path, or relative to this one as in ../v2"
			c.in.Mistakes.Add(w.at)
			continue
		}
		hubs[w.hub] = hub
		if !slices.Contains(packages, hub) {
			packages = append(packages, hub)
		}
	}
	if len(packages) == 1 {
		return false
	}
	checked, mistakes := load.CheckApart(packages...)
	c.in.Mistakes.Add(mistakes...)
	typesOf := map[*load.Package]*types.Package{}
	for i, p := range packages {
		typesOf[p] = checked[i]
	}
	c.hand = findHandwritten(c.pkg)
	c.imports = imports{own: c.pkg.Path, names: map[string]string{}, taken: map[string]bool{}}
	any := false
	for _, w := range wishes {
		hub := hubs[w.hub]
		if hub == nil {
			continue
		}
		k, ok := c.kind(w, hub, typesOf)
		if !ok {
			continue
		}
		any = true
		c.methods(k)
		for len(c.queue) > 0 {
			next := c.queue[0]
			c.queue = c.queue[1:]
			c.function(next)
		}
	}
	return any
}

// wishes lists the kinds that are to be converted, as the package's marker and those of types say.
func (c *converter) wishes() []wish {
	var out []wish
	common := c.in.Markers.Occurrences(c.pkg, hubMarker)
	for _, t := range c.in.Markers.Types(c.pkg) {
		w := wish{name: t.Name, hubName: t.Name}
		if renamed, ok := marker.First[Renamed](t.Markers, kindMarker); ok {
			w.hubName, w.certain = string(renamed), true
			w.at = c.marked(t, kindMarker)
		}
		switch hub, ok := marker.First[Hub](t.Markers, hubMarker); {
		case ok:
			w.hub, w.certain = c.absolute(hub), true
			w.at = c.marked(t, hubMarker)
		case len(common) > 0:
			hub, _ := common[0].Value.(Hub)
			w.hub = c.absolute(hub)
			if !w.certain {
				w.at = diag.Mistake{Pos: common[0].Pos, Len: common[0].Len}
			}
		case w.certain:
			w.at.What = fmt.Sprintf("+%s says what %s is called in the hub, and nothing says where that is", kindMarker, t.Name)
			w.at.Fix = fmt.Sprintf("add +%s=../VERSION", hubMarker)
			c.in.Mistakes.Add(w.at)
			continue
		default:
			continue
		}
		out = append(out, w)
	}
	return out
}

// marked is where a type has a marker.
func (c *converter) marked(t *marker.Type, name string) diag.Mistake {
	at := t.Places[name][0]
	return diag.Mistake{Pos: c.pkg.Fset().Position(at.Pos), Len: at.Len}
}

// absolute is the import path that a marker names.
func (c *converter) absolute(hub Hub) string {
	if strings.HasPrefix(string(hub), ".") {
		return path.Join(c.pkg.Path, string(hub))
	}
	return string(hub)
}

// conversionPackages have the interfaces; the first that the module has is taken.
var conversionPackages = []string{"github.com/operon-dev/operon/pkg/conversion", "sigs.k8s.io/controller-runtime/pkg/conversion"}

func (c *converter) kind(w wish, hub *load.Package, typesOf map[*load.Package]*types.Package) (kind, bool) {
	k := kind{name: w.name, hub: hub}
	refuse := func(fix, format string, args ...any) (kind, bool) {
		m := w.at
		m.What, m.Fix = fmt.Sprintf(format, args...), fix
		c.in.Mistakes.Add(m)
		return kind{}, false
	}
	var okFrom, okTo bool
	k.from, okFrom = lookup(typesOf[c.pkg], w.name)
	k.to, okTo = lookup(typesOf[hub], w.hubName)
	switch {
	case !okFrom || !isObject(k.from):
		if !w.certain {
			return kind{}, false
		}
		return refuse("mark a struct that embeds metav1.TypeMeta and metav1.ObjectMeta", "%s is no kind", w.name)
	case !okTo || !isObject(k.to):
		if !w.certain {
			return kind{}, false
		}
		return refuse(fmt.Sprintf("name the one that %s becomes with +%s=NAME", w.name, kindMarker), "package %s has no kind %s", hub.Path, w.hubName)
	}
	k.pos = k.from.Obj().Pos()
	for _, method := range []string{"ConvertTo", "ConvertFrom"} {
		if fn := c.hand.methods[w.name+"."+method]; fn != nil {
			c.mistake(fn.Name.Pos(), len(method), "remove it, or the marker +"+hubMarker, "%s of %s would be generated, and is here already", method, w.name)
			return kind{}, false
		}
	}
	if findHandwritten(hub).methods[w.hubName+".Hub"] == nil {
		return refuse(fmt.Sprintf("add func (*%s) Hub() {} to package %s", w.hubName, hub.Name), "%s.%s does not say that it is the hub", hub.Name, w.hubName)
	}
	for _, p := range conversionPackages {
		if _, err := c.pkg.Import(p); err == nil {
			k.conversion = p
			return k, true
		}
	}
	return refuse("go get github.com/operon-dev/operon", "the module requires neither github.com/operon-dev/operon nor sigs.k8s.io/controller-runtime, whose interface conversions satisfy")
}

func lookup(pkg *types.Package, name string) (*types.Named, bool) {
	obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
	if !ok || obj.IsAlias() {
		return nil, false
	}
	named, ok := obj.Type().(*types.Named)
	return named, ok && named.TypeParams().Len() == 0
}

const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

// isObject tells structs that embed TypeMeta and ObjectMeta.
func isObject(t *types.Named) bool {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	found := 0
	for f := range st.Fields() {
		if f.Anonymous() && (isMeta(f, "TypeMeta") || isMeta(f, "ObjectMeta")) {
			found++
		}
	}
	return found == 2
}

func isMeta(f *types.Var, name string) bool {
	named, ok := types.Unalias(f.Type()).(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && strings.HasSuffix(named.Obj().Pkg().Path(), metaPackage)
}

func (c *converter) mistake(pos token.Pos, length int, fix, format string, args ...any) {
	c.in.Mistakes.Add(diag.Mistake{Pos: c.pkg.Fset().Position(pos), Len: length, What: fmt.Sprintf(format, args...), Fix: fix})
}

func (c *converter) printf(format string, args ...any) { fmt.Fprintf(&c.body, format, args...) }

// bytes is the whole file, formatted.
func (c *converter) bytes(header string) ([]byte, error) {
	var b strings.Builder
	b.WriteString("//go:build !ignore_autogenerated\n\n" + header)
	if header != "" {
		b.WriteString("\n")
	}
	b.WriteString("// Code generated by operon. DO NOT EDIT.\n\npackage " + c.pkg.Name + "\n\n")
	c.imports.write(&b, c.body.String())
	b.WriteString(c.body.String())
	return format.Source([]byte(b.String()))
}
