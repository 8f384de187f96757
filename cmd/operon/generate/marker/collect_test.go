package marker_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

const positions = `// +pkg=beforeDoc

// Package v1 is documented.
// +pkg=doc
package v1

// +pkg=beforeImport

// +pkg=importDoc
import "fmt"

// +typ=far
// +pkg=far

// +typ=closest
// +pkg=closest

// A is a type.
// +typ=doc
// +pkg=typeDoc
type A struct { // +typ=brace
	// +fld=first

	// F is a field. +fld=midline
	// +fld=doc
	//+fld=tight
	F string // +fld=trailing

	// +fld=far

	// +fld=closest

	/*
	   G is a field.
	   +fld=block
	*/
	G, H fmt.Stringer

	// +fld=last
}

// +pkg=funcDoc
func f() {
	// +pkg=body
}

type (
	// +typ=grouped

	// B is grouped.
	B int
)

//	+pkg=tab
// -- +pkg=dashes
`

func collect(t *testing.T, text string) (*marker.Collector, *load.Package, *diag.List, *diag.List) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "v1/v1.go": text} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	src, err := load.New(load.Config{Dir: dir, Env: append(os.Environ(), "GOWORK=off")})
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := src.Roots("./v1")
	if err != nil {
		t.Fatal(err)
	}
	mistakes, doubts := &diag.List{}, &diag.List{}
	registry := marker.NewRegistry([]marker.Definition{
		marker.Define[string]("pkg", marker.OnPackage, marker.Help{}),
		marker.Define[string]("typ", marker.OnType, marker.Help{}),
		marker.Define[string]("fld", marker.OnField, marker.Help{}),
		marker.Define[int]("kubebuilder:validation:MaxLength", marker.OnField, marker.Help{}),
		marker.Define[string]("kubebuilder:validation:Pattern", marker.OnType, marker.Help{}),
		marker.Define[string]("kubebuilder:rbac", marker.OnPackage, marker.Help{}),
		marker.Define[string]("immutable", marker.OnField, marker.Help{}),
	})
	c := marker.NewCollector(registry, mistakes)
	c.Doubt(registry, doubts)
	return c, pkgs[0], mistakes, doubts
}

func TestMarkersBelongToWhatTheirCommentsStandOn(t *testing.T) {
	c, pkg, mistakes, _ := collect(t, positions)
	want := []string{"beforeDoc", "doc", "beforeImport", "far", "closest", "tab"}
	if diff := cmp.Diff(want, marker.All[string](c.Package(pkg), "pkg")); diff != "" {
		t.Errorf("the package (-want +got):\n%s", diff)
	}
	a := c.Type(pkg, "A")
	if diff := cmp.Diff([]string{"closest", "doc"}, marker.All[string](a.Markers, "typ")); diff != "" {
		t.Errorf("the type A (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"grouped"}, marker.All[string](c.Type(pkg, "B").Markers, "typ")); diff != "" {
		t.Errorf("the type B (-want +got):\n%s", diff)
	}
	got := map[string][]string{}
	for _, f := range a.Fields {
		got[f.Name+": "+strings.TrimSpace(f.Doc)] = marker.All[string](f.Markers, "fld")
	}
	fields := map[string][]string{
		"F: F is a field. +fld=midline": {"first", "doc", "tight"},
		"G: G is a field.\n+fld=block":  {"closest"},
		"H: G is a field.\n+fld=block":  {"closest"},
	}
	if diff := cmp.Diff(fields, got); diff != "" {
		t.Errorf("the fields (-want +got):\n%s", diff)
	}
	if !mistakes.Empty() {
		t.Errorf("mistakes: %v", mistakes.Sorted())
	}
}

func TestMarkersThatNobodyReadsAreDoubtful(t *testing.T) {
	c, pkg, mistakes, doubts := collect(t, `package v1

// +kubebuilder:rbac=lost
func f() {}

// T is a type.
// +kubebuilder:rbac=lost
// +kubebuilder:scaffold:imports
// +somebody:elses=marker
type T struct {
	// +kubebuilder:validation:Maxlength=5
	A string
	// +kubebuilder:validation:MaxLength=many
	B string
}
`)
	c.Package(pkg)
	c.Types(pkg)
	var doubtful, wrong bytes.Buffer
	doubts.Print(&doubtful, filepath.Dir(pkg.Dir))
	mistakes.Print(&wrong, filepath.Dir(pkg.Dir))
	if diff := cmp.Diff(`v1/v1.go:3:4: +kubebuilder:rbac has no effect here, it is a marker of a package: put it in a comment of its own, with a blank line below it
    // +kubebuilder:rbac=lost
       ^^^^^^^^^^^^^^^^^^^^^^
v1/v1.go:7:4: +kubebuilder:rbac has no effect here, it is a marker of a package: put it in a comment of its own, with a blank line below it
    // +kubebuilder:rbac=lost
       ^^^^^^^^^^^^^^^^^^^^^^
v1/v1.go:11:5: no generator knows the marker +kubebuilder:validation:Maxlength: did you mean +kubebuilder:validation:MaxLength?
    	// +kubebuilder:validation:Maxlength=5
    	   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`, doubtful.String()); diff != "" {
		t.Errorf("doubts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(`v1/v1.go:13:39: "many" is not an integer
    	// +kubebuilder:validation:MaxLength=many
    	                                     ^^^^
`, wrong.String()); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
}

func TestWhatIsMeantForAMarkerAndNoneIsDoubtful(t *testing.T) {
	c, pkg, mistakes, doubts := collect(t, `package v1

type T struct {
	// + kubebuilder:validation:MaxLength=1
	// +kubebuilder:validation:MaxLength =1
	// kubebuilder:validation:MaxLength=1
	// +kubebuider:validation:MaxLength=1
	// +immutible
	// +Immutable
	// +imm
	// +other:immutable
	/*
	   +kubebuilder:validation:MaxLength=1
	 * +immutable=x */
	A string
	// +kubebuilder:MaxLength=1
	// +kubebuilder:validation:MaxLength:length=1
	// +kubebuilder:validation:maxlen:length=1
	B string // +immutable
}

// +kubebuilder:validation:Pattern=x
type Renamed = T

// +kubebuilder:validation:Pattern=x
type Text = string
`)
	c.Types(pkg)
	var doubtful bytes.Buffer
	doubts.Print(&doubtful, filepath.Dir(pkg.Dir))
	if diff := cmp.Diff(`v1/v1.go:4:5: a blank beside the marker's name hides it: write +kubebuilder:validation:MaxLength=1
    	// + kubebuilder:validation:MaxLength=1
    	   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
v1/v1.go:5:5: a blank beside the marker's name hides it: write +kubebuilder:validation:MaxLength=1
    	// +kubebuilder:validation:MaxLength =1
    	   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
v1/v1.go:6:2: a marker begins with a plus sign: write // +kubebuilder:validation:MaxLength=1
    	// kubebuilder:validation:MaxLength=1
    	^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
v1/v1.go:7:5: no generator knows the marker +kubebuider:validation:MaxLength: did you mean +kubebuilder:validation:MaxLength?
    	// +kubebuider:validation:MaxLength=1
    	   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
v1/v1.go:8:5: no generator knows the marker +immutible: did you mean +immutable?
    	// +immutible
    	   ^^^^^^^^^^
v1/v1.go:9:5: no generator knows the marker +Immutable: did you mean +immutable?
    	// +Immutable
    	   ^^^^^^^^^^
v1/v1.go:13:5: markers in block comments are not read: write // +kubebuilder:validation:MaxLength=1
    	   +kubebuilder:validation:MaxLength=1
    	   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
v1/v1.go:14:5: markers in block comments are not read: write // +immutable=x
    	 * +immutable=x */
    	   ^^^^^^^^^^^^
v1/v1.go:16:5: no generator knows the marker +kubebuilder:MaxLength: did you mean +kubebuilder:validation:MaxLength?
    	// +kubebuilder:MaxLength=1
    	   ^^^^^^^^^^^^^^^^^^^^^^
v1/v1.go:17:39: the value of +kubebuilder:validation:MaxLength has no name: "length" has no effect: write +kubebuilder:validation:MaxLength=1
    	// +kubebuilder:validation:MaxLength:length=1
    	                                     ^^^^^^
v1/v1.go:18:5: no generator knows the marker +kubebuilder:validation:maxlen:length: did you mean +kubebuilder:validation:MaxLength?
    	// +kubebuilder:validation:maxlen:length=1
    	   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
v1/v1.go:19:14: a marker behind a field is not read: put it in a comment above the field
    	B string // +immutable
    	            ^^^^^^^^^^
v1/v1.go:22:4: +kubebuilder:validation:Pattern has no effect on fields of type Renamed in its package, because it is an alias: put it on the type that it stands for, or on fields, or leave out the equals sign of the declaration
    // +kubebuilder:validation:Pattern=x
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`, doubtful.String()); diff != "" {
		t.Errorf("doubts (-want +got):\n%s", diff)
	}
	if !mistakes.Empty() {
		t.Errorf("mistakes: %v", mistakes.Sorted())
	}
}

func TestTheNearestNameIsSuggested(t *testing.T) {
	names := []string{"MaxLength", "MinLength", "Pattern"}
	for name, want := range map[string]string{"maxlength": "MaxLength", "MinLenght": "MinLength", "Patern": "Pattern", "OneOf": ""} {
		if got := marker.Nearest(name, names); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
