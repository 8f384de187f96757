package gomodule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"

	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
)

// checkout is a library that requires more than the snapshot knows, and less.
func checkout(t *testing.T) origin.Origin {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module " + origin.Library + "\n\ngo 1.26.0\n\nrequire (\n\texample.com/new v1.2.3\n\tk8s.io/client-go v0.99.0\n\tgithub.com/onsi/gomega v1.0.0\n)\n",
		"go.sum": "example.com/new v1.2.3 h1:x\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return origin.Origin{Dir: dir}
}

func versions(t *testing.T, mod string) map[string]string {
	t.Helper()
	file, err := modfile.Parse("go.mod", []byte(mod), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, r := range file.Require {
		all[r.Mod.Path] = r.Mod.Version
	}
	return all
}

func TestRequireTakesTheHighestOfWhatIsKnown(t *testing.T) {
	from := checkout(t)
	mod, sum, err := Require("", "", "example.com/p", from)
	if err != nil {
		t.Fatal(err)
	}
	all := versions(t, mod)
	if all["example.com/new"] != "v1.2.3" || all["k8s.io/client-go"] != "v0.99.0" || all["github.com/onsi/gomega"] == "v1.0.0" || all["github.com/onsi/gomega"] == "" {
		t.Errorf("go.mod:\n%s", mod)
	}
	if !strings.Contains(mod, "example.com/new v1.2.3 // indirect\n") {
		t.Errorf("what only the library requires is not marked:\n%s", mod)
	}
	if !strings.HasPrefix(mod, "module example.com/p\n") || !strings.Contains(mod, "replace "+origin.Library+" => "+from.Dir+"\n") {
		t.Errorf("go.mod:\n%s", mod)
	}
	if !strings.Contains(sum, "example.com/new v1.2.3 h1:x\n") || !strings.Contains(sum, "github.com/onsi/gomega ") {
		t.Errorf("go.sum:\n%s", sum)
	}
	again, againSum, err := Require(mod, sum, "example.com/p", from)
	if err != nil || again != mod || againSum != sum {
		t.Errorf("a second time: %v\n%s", err, again)
	}
}

func TestRequireKeepsWhatAProjectHas(t *testing.T) {
	const mod = "module example.com/p\n\ngo 1.99\n\nrequire (\n\texample.com/mine v1.0.0\n\tk8s.io/client-go v0.999.0\n)\n"
	got, sum, err := Require(mod, "example.com/mine v1.0.0 h1:y\n", "example.com/p", checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	all := versions(t, got)
	if all["example.com/mine"] != "v1.0.0" || all["k8s.io/client-go"] != "v0.999.0" || !strings.Contains(got, "\ngo 1.99\n") || !strings.Contains(sum, "h1:y") {
		t.Errorf("go.mod:\n%s\n%s", got, sum)
	}
}

func TestAReleasedLibraryIsNotReplaced(t *testing.T) {
	mod, _, err := Require("", "", "example.com/p", origin.Origin{Version: "v1.2.3"})
	if err != nil || strings.Contains(mod, "replace") || versions(t, mod)[origin.Library] != "v1.2.3" {
		t.Errorf("%v\n%s", err, mod)
	}
}

func TestRaiseBringsAProjectToWhatAScaffoldOfNowNeeds(t *testing.T) {
	from := checkout(t)
	other := checkout(t)
	fresh, sum, err := Require("", "", "example.com/p", from)
	if err != nil {
		t.Fatal(err)
	}
	k8s := "k8s.io/api " + versions(t, fresh)["k8s.io/api"]
	published := origin.Origin{Version: "v1.2.3"}
	requires := origin.Library + " " + unpublished
	for _, tt := range []struct {
		name     string
		from     origin.Origin
		old, new string // what of a fresh project is otherwise, and what becomes of it
	}{
		{"nothing to do", from, "", ""},
		{"a lower requirement", from, strings.Replace(fresh, k8s, "k8s.io/api v0.30.0", 1), fresh},
		{"a lower Go", from, strings.Replace(fresh, "\ngo 1.26", "\ngo 1.20", 1), fresh},
		{"a checkout that is gone", from, strings.Replace(fresh, from.Dir, "/nowhere", 1), fresh},
		{"another checkout, which is a person's", other, "", ""},
		{"something newer of a person's", from, strings.Replace(fresh, k8s, "k8s.io/api v0.999.0", 1), ""},
		{"something tidied away", from, strings.Replace(fresh, "\t"+k8s+"\n", "", 1), ""},
		{"a library that is published now", published, fresh, without(t, strings.Replace(fresh, requires, origin.Library+" v1.2.3", 1))},
		{"a lower version of the library", published, without(t, strings.Replace(fresh, requires, origin.Library+" v1.0.0", 1)),
			without(t, strings.Replace(fresh, requires, origin.Library+" v1.2.3", 1))},
		{"a version of the library that a person replaces", published, strings.Replace(fresh, requires, origin.Library+" v1.0.0", 1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.old == "" {
				tt.old = fresh
			} else if tt.old == fresh && tt.new != fresh && tt.from != published {
				t.Fatal("the test changes nothing")
			}
			if tt.new == "" {
				tt.new = tt.old
			}
			mod, newSum, err := Raise(tt.old, sum, t.TempDir(), tt.from)
			if diff := cmp.Diff(tt.new, mod); err != nil || diff != "" || newSum != sum {
				t.Errorf("Raise: %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// without is a go.mod without its replacements.
func without(t *testing.T, mod string) string {
	t.Helper()
	file, err := modfile.Parse("go.mod", []byte(mod), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Replace {
		if err := file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			t.Fatal(err)
		}
	}
	file.Cleanup()
	out, err := file.Format()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestRuntimeOfAProject(t *testing.T) {
	for _, tt := range []struct {
		name, mod string
		want      Runtime
		err       string
	}{
		{"operon", "module p\nrequire github.com/operon-dev/operon v0.0.0\n", Runtime{origin.Library, true}, ""},
		{"both", "module p\nrequire (\n sigs.k8s.io/controller-runtime v0.20.0\n github.com/operon-dev/operon v0.0.0\n)\n", Runtime{origin.Library, true}, ""},
		{"older", "module p\nrequire sigs.k8s.io/controller-runtime v0.22.4\n", Runtime{ControllerRuntime, false}, ""},
		{"newer", "module p\nrequire sigs.k8s.io/controller-runtime v0.23.0\n", Runtime{ControllerRuntime, true}, ""},
		{"neither", "module p\n", Runtime{}, "go get one of them"},
		{"no go.mod", "require (", Runtime{}, "not a valid go.mod"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := RuntimeOf(tt.mod)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("RuntimeOf: %+v, %v", got, err)
			}
		})
	}
}

func TestTheLibraryIsRequiredAmongWhatAProjectRequiresForItsOwnSake(t *testing.T) {
	const mod = "module example.com/p\n\ngo 1.99\n\nrequire (\n\texample.com/mine v1.0.0\n\texample.com/zoo v1.0.0\n)\n\nrequire (\n\texample.com/theirs v1.0.0 // indirect\n)\n"
	got, _, err := Require(mod, "", "example.com/p", checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	direct, _, _ := strings.Cut(got, ")\n")
	if !strings.Contains(direct, "\texample.com/mine v1.0.0\n") || !strings.Contains(direct, "\t"+origin.Library+" v0.0.0\n") || strings.Contains(direct, "indirect") {
		t.Errorf("go.mod:\n%s", got)
	}
}
