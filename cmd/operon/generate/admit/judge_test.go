package admit_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/accept"
	"github.com/operon-dev/operon/cmd/operon/generate/admit"
	"github.com/operon-dev/operon/cmd/operon/generate/crd"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest"
)

const source = `// +groupName=%s.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

%stype Thing struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec ThingSpec ` + "`json:\"spec\"`" + `
}

type ThingSpec struct {
%s}

%s`

const meta = `package v1

type TypeMeta struct {
	Kind string ` + "`json:\"kind,omitempty\"`" + `
	APIVersion string ` + "`json:\"apiVersion,omitempty\"`" + `
}

type ObjectMeta struct{}
`

// thing is a kind that came of a case.
type thing struct {
	name string
	// said is what the generators say about it, with the API server's checks.
	said       string
	definition []byte
	reviews    []generate.Review
}

// things generates the cases of a file, a package each.
func things(t *testing.T, file string) []thing {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/m\n\ngo 1.26\n\nrequire k8s.io/apimachinery v0.0.0\n\nreplace k8s.io/apimachinery => ./apimachinery\n")
	write(t, dir, "apimachinery/go.mod", "module k8s.io/apimachinery\n\ngo 1.26\n")
	write(t, dir, "apimachinery/pkg/apis/meta/v1/meta.go", meta)
	var out []thing
	for _, f := range archive.Files {
		parts := strings.Split(string(f.Data), "===\n")
		if len(parts) != 3 {
			t.Fatalf("%s has %d parts, not 3", f.Name, len(parts))
		}
		write(t, dir, f.Name+"/types.go", fmt.Sprintf(source, f.Name, parts[0], parts[1], parts[2]))
		out = append(out, generated(t, dir, f.Name))
	}
	return out
}

func generated(t *testing.T, dir, name string) thing {
	t.Helper()
	loaded, err := load.New(load.Config{Dir: dir, Env: append(os.Environ(), "GOWORK=off")})
	if err != nil {
		t.Fatal(err)
	}
	roots, err := loaded.Roots("./" + name)
	if err != nil {
		t.Fatal(err)
	}
	var found diag.List
	var reviews []generate.Review
	generator := crd.Generator{}
	artifacts, err := generator.Generate(t.Context(), &generate.Input{
		Roots: roots, Source: loaded, Mistakes: &found,
		Markers: marker.NewCollector(marker.NewRegistry(generator.Markers()), &found),
		Review:  func(r generate.Review) { reviews = append(reviews, r) },
	})
	if err != nil || len(artifacts) != 1 {
		t.Fatalf("%s: %d artifacts, %v", name, len(artifacts), err)
	}
	var verdicts [][]generate.Refusal
	for _, r := range reviews {
		refusals, err := admit.Judge(t.Context(), r.Object)
		if err != nil {
			t.Fatal(err)
		}
		verdicts = append(verdicts, refusals)
	}
	(&generate.Input{Mistakes: &found, Doubts: &found}).Report(reviews, verdicts)
	var printed bytes.Buffer
	found.Print(&printed, dir)
	return thing{name: name, said: printed.String(), definition: artifacts[0].Data, reviews: reviews}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestEveryRefusalHasItsPlaceInTheSource(t *testing.T) {
	var got strings.Builder
	for _, thing := range things(t, "wrong.txt") {
		if !strings.HasPrefix(thing.said, thing.name+"/types.go:") {
			t.Errorf("%s: nothing is said, or without its place: %s", thing.name, thing.said)
		}
		got.WriteString(thing.said)
	}
	const golden = "testdata/wrong.want"
	if os.Getenv("OPERON_GOLDEN") == "update" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatIsRightIsLeftInPeace(t *testing.T) {
	for _, thing := range things(t, "right.txt") {
		if thing.said != "" {
			t.Errorf("%s: %s", thing.name, thing.said)
		}
	}
}

func TestWhatOnlyRulesDecideIsNotAcceptedAgainstTheJudge(t *testing.T) {
	accepted := 0
	for _, thing := range append(things(t, "wrong.txt"), things(t, "right.txt")...) {
		for _, r := range thing.reviews {
			if !r.OnlyRules {
				continue
			}
			fine, err := accept.Rules(t.Context(), [][]byte{r.Object})
			if err != nil {
				t.Fatal(err)
			}
			if !fine[0] {
				continue
			}
			accepted++
			refusals, err := admit.Judge(t.Context(), r.Object)
			if err != nil {
				t.Fatal(err)
			}
			if len(refusals) > 0 {
				t.Errorf("%s: %v", thing.name, refusals)
			}
		}
	}
	if accepted == 0 {
		t.Error("nothing is accepted")
	}
}

func TestTheAPIServerAgrees(t *testing.T) {
	if os.Getenv("OPERON") == "" {
		t.Skip("OPERON names no operon binary to run an API server with")
	}
	env := &envtest.Environment{}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	api, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	create := func(thing thing) error {
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(thing.definition, &definition); err != nil {
			return err
		}
		return api.Create(t.Context(), &definition)
	}
	for _, thing := range things(t, "wrong.txt") {
		if err := create(thing); !refused(err) {
			t.Errorf("%s: want a refusal, have %v", thing.name, err)
		}
	}
	for _, thing := range things(t, "right.txt") {
		if err := create(thing); err != nil {
			t.Errorf("%s: %v", thing.name, err)
		}
	}
}

// refused tells that the API server does not take an object, for its content.
func refused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}
