package applyconfiguration

import (
	"context"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// DefaultDirectory is where the apply configurations of a package lie, relative to it, unless a marker says otherwise.
const DefaultDirectory = "applyconfiguration"

// Generator generates apply configurations. Its zero value generates them without a header.
type Generator struct {
	// HeaderFile is the path of a file whose text is put at the head of the generated files. YEAR in it becomes the current year.
	HeaderFile string `marker:",optional"`
	// ExternalApplyConfigurations say where the apply configurations of types of other packages are, each in the form PACKAGE.TYPE@PACKAGE.
	// Those of k8s.io/apimachinery/pkg/apis/meta/v1 are known.
	ExternalApplyConfigurations []string `marker:",optional"`
	// OmitToolVersion is for those who call controller-gen by a name with a version. Operon's output names no version in any case.
	OmitToolVersion bool `marker:",optional"`

	// Now tells the year for the header. Nil means the time.
	Now func() time.Time `marker:"-"`
}

// parseMapping splits PACKAGE.TYPE@PACKAGE into the type's name and the package of its apply configuration.
func parseMapping(text string) (typ typeName, pkg string, err error) {
	full, pkg, ok := strings.Cut(text, "@")
	slash, dot := strings.LastIndexByte(full, '/'), strings.LastIndexByte(full, '.')
	if !ok || pkg == "" || dot <= slash || dot == len(full)-1 {
		return typeName{}, "", fmt.Errorf("externalApplyConfigurations: %q is not of the form PACKAGE.TYPE@PACKAGE, such as "+
			"k8s.io/api/core/v1.Pod@k8s.io/client-go/applyconfigurations/core/v1", text)
	}
	return typeName{full[:dot], full[dot+1:]}, pkg, nil
}

// Help describes the generator and its options.
func Help() marker.Help {
	return marker.Help{
		Summary: "writes the apply configurations of the packages' types.",
		Fields: map[string]string{
			"HeaderFile":                  generate.HeaderFileHelp + " YEAR in it becomes the current year.",
			"ExternalApplyConfigurations": "says where the apply configurations of types of other packages are: PACKAGE.TYPE@PACKAGE, several with semicolons between them.",
			"OmitToolVersion":             `is accepted and changes nothing: the header says "controller-gen", without a version, in any case.`,
		},
	}
}

// Generate returns the files of each root package that asks for apply configurations.
func (g Generator) Generate(ctx context.Context, in *generate.Input) ([]generate.Artifact, error) {
	header, err := g.header()
	if err != nil {
		return nil, err
	}
	external := knownConfigurations()
	for _, text := range g.ExternalApplyConfigurations {
		typ, pkg, err := parseMapping(text)
		if err != nil {
			return nil, err
		}
		external[typ] = pkg
	}
	var packages []*load.Package
	for _, pkg := range in.Roots {
		if pkg.Mentions("+"+enableMarker) && enabled(in, pkg) {
			packages = append(packages, pkg)
		}
	}
	load.Check(packages...)
	var files []generate.Artifact
	places := map[string]*load.Package{}
	for _, pkg := range importedFirst(packages) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, ok := newAPI(in, pkg, external)
		if !ok {
			continue
		}
		if other := places[a.path]; other != nil {
			a.shares(other)
		}
		places[a.path] = pkg
		for _, f := range a.files() {
			data, err := f.bytes(header)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", pkg.Path, f.name, err)
			}
			files = append(files, generate.Artifact{Package: pkg, Name: path.Join(a.dir, f.name), Fixed: true, Data: data})
		}
	}
	return files, nil
}

// importedFirst has packages that others import before those: where several have one output directory, the files of the last stay.
func importedFirst(packages []*load.Package) []*load.Package {
	byPath := map[string]*load.Package{}
	for _, pkg := range packages {
		byPath[pkg.Path] = pkg
	}
	var out []*load.Package
	seen := map[*load.Package]bool{}
	var visit func(pkg *load.Package)
	visit = func(pkg *load.Package) {
		if pkg == nil || seen[pkg] {
			return
		}
		seen[pkg] = true
		for _, file := range pkg.Syntax() {
			for _, spec := range file.Imports {
				visit(byPath[strings.Trim(spec.Path.Value, "\"`")])
			}
		}
		out = append(out, pkg)
	}
	for _, pkg := range packages {
		visit(pkg)
	}
	return out
}

func enabled(in *generate.Input, pkg *load.Package) bool {
	on, _ := marker.First[Enable](in.Markers.Package(pkg), enableMarker)
	return bool(on)
}

// header is the text at the head of each file.
func (g Generator) header() (string, error) {
	var text string
	if g.HeaderFile != "" {
		data, err := os.ReadFile(g.HeaderFile)
		if err != nil {
			return "", fmt.Errorf("headerFile: %w", err)
		}
		now := g.Now
		if now == nil {
			now = time.Now
		}
		text = strings.ReplaceAll(string(data), "YEAR", strconv.Itoa(now().UTC().Year())) + "\n"
	}
	return text + "// Code generated by controller-gen. DO NOT EDIT.\n\n", nil
}
