package recipe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMakefileSaysWhatIsGenerated(t *testing.T) {
	for name, test := range map[string]struct {
		makefile string
		want     []Recipe
	}{
		"of Kubebuilder": {
			"CONTROLLER_GEN ?= $(LOCALBIN)/controller-gen\n" +
				"manifests: controller-gen ## CRDs.\n\t\"$(CONTROLLER_GEN)\" rbac:roleName=manager-role crd webhook paths=\"./...\" output:crd:artifacts:config=config/crd/bases\n" +
				"generate: controller-gen ## DeepCopy.\n\t$(CONTROLLER_GEN) object:headerFile=\"hack/boilerplate.go.txt\" paths=\"./...\"\n" +
				"controller-gen: ## Download.\n\tcontroller-gen --version\n",
			[]Recipe{{"rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases", "object:headerFile=hack/boilerplate.go.txt",
				"applyconfiguration:headerFile=hack/boilerplate.go.txt", "conversion:headerFile=hack/boilerplate.go.txt"}},
		},
		"with variables and continued lines": {
			"CRD_OPTIONS ?= \"crd:maxDescLen=$(LENGTH)\"\nLENGTH := 0\n" +
				"manifests:\n\t@$(OPERON) controller-gen $(CRD_OPTIONS) \\\n\t\tpaths=./api/...\n",
			[]Recipe{{"crd:maxDescLen=0", "paths=./api/..."}},
		},
		"with other packages for each": {
			"generate:\n\t./bin/controller-gen object paths=./api/...\nmanifests:\n\toperon controller-gen crd paths=./...\n",
			[]Recipe{{"object", "paths=./api/...", "applyconfiguration", "conversion"}, {"crd", "paths=./..."}},
		},
		"with one generator twice": {
			"manifests:\n\tcontroller-gen crd output:dir=a paths=./...\n\tcontroller-gen crd:maxDescLen=0 output:dir=b paths=./...\n",
			[]Recipe{{"crd", "output:dir=a", "paths=./..."}, {"crd:maxDescLen=0", "output:dir=b", "paths=./..."}},
		},
		"with a flag in one of them": {
			"manifests:\n\tcontroller-gen crd paths=./... --allow-refused\n\tcontroller-gen webhook paths=./...\n",
			[]Recipe{{"crd", "paths=./...", "--allow-refused"}, {"webhook", "paths=./..."}},
		},
		"without a call": {
			"build:\n\tgo build\n",
			[]Recipe{{"object", "rbac:roleName=manager-role", "crd", "webhook", "paths=./...", "output:crd:artifacts:config=config/crd/bases", "applyconfiguration", "conversion"}},
		},
		"with apply configurations of its own, and a year": {
			"generate:\n\tcontroller-gen object:headerFile=h.txt,year=2026 paths=./...\n\tcontroller-gen applyconfiguration paths=./api/...\n",
			[]Recipe{{"object:headerFile=h.txt,year=2026", "paths=./...", "conversion:headerFile=h.txt,year=2026"}, {"applyconfiguration", "paths=./api/..."}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(test.makefile), 0o666); err != nil {
				t.Fatal(err)
			}
			got, err := Of(dir)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatOnlyMakeKnowsIsAnErrorWithItsLine(t *testing.T) {
	for makefile, want := range map[string]string{
		"manifests:\n\tcontroller-gen $(OPTIONS) paths=./...\n":                     "line 2: variable OPTIONS has no value",
		"A := $(shell date)\nmanifests:\n\tcontroller-gen crd:x=$(A) paths=./...\n": "line 3: ",
		"A = $(B)\nB = $(A)\nmanifests:\n\tcontroller-gen crd:x=$(A) paths=./...\n": "without end",
		"manifests:\n\tcontroller-gen crd paths=\"./...\n":                          "line 2: ",
	} {
		if got, err := parse(makefile); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", makefile, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("A ?= b\ngenerate manifests: x\n\t@controller-gen $(A) 'c d' \\\n\t e\n")
	f.Add("manifests::\n\t$(CONTROLLER_GEN)\n")
	f.Fuzz(func(t *testing.T, makefile string) {
		recipes, err := parse(makefile)
		if err != nil {
			return
		}
		n := 0
		for _, r := range recipes {
			n += len(r)
		}
		for _, r := range join(recipes) {
			n -= len(r)
		}
		if n < 0 {
			t.Errorf("joining %q added arguments: %q", recipes, join(recipes))
		}
	})
}

func TestQuotedArgumentsCanBePasted(t *testing.T) {
	if got, want := quote([]string{"crd", "x=a b", "it's"}), `crd 'x=a b' 'it'\''s'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
