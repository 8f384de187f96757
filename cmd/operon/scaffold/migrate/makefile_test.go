package migrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTargetsThatAPersonChangedAreLeftAlone(t *testing.T) {
	for _, tt := range []struct{ name, rule string }{
		{"an argument more", "run:\n\tgo run ./main.go --zap-devel\n"},
		{"a line more", "deploy: kustomize\n\t./before.sh\n\t$(KUSTOMIZE) build config/default | kubectl apply -f -\n"},
		{"another image", "docker-build:\n\tdocker build -t $(IMG) -f build/Dockerfile .\n"},
		{"no recipe", "install:\n"},
		{"tests of another kind", "test:\n\tgo test -tags mine ./...\n"},
		{"tools without download", "manifests:\n\tcontroller-gen crd\n"},
		{"a name of one's own", "mine: kustomize\n\t$(KUSTOMIZE) build .\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// Another target is moved, so the file is written anew.
			moved := "generate:\n\t$(CONTROLLER_GEN) object paths=./...\n"
			result := moveMakefile(moved + "\n" + tt.rule)
			if !strings.HasSuffix(result.text, "\n\n"+tt.rule) {
				t.Errorf("the rule is changed:\n%s", result.text)
			}
			name, _, _ := strings.Cut(tt.rule, ":")
			if !slices.Equal(result.left, []string{name}) {
				t.Errorf("%q is named, not %s", result.left, name)
			}
		})
	}
}

func TestWhatDownloadsStaysWhereSomethingNeedsIt(t *testing.T) {
	const machinery = `LOCALBIN ?= $(shell pwd)/bin
$(LOCALBIN):
	mkdir -p $(LOCALBIN)

KUSTOMIZE ?= $(LOCALBIN)/kustomize

kustomize: $(KUSTOMIZE)
$(KUSTOMIZE): $(LOCALBIN)
	$(call go-install-tool,$(KUSTOMIZE),example.com/kustomize,v1)

define go-install-tool
GOBIN=$(LOCALBIN) go install $(2)@$(3)
endef
`
	const generate = "generate:\n\t$(CONTROLLER_GEN) object paths=./...\n\n"
	const mine = "mine: kustomize\n\t$(KUSTOMIZE) build .\n\n"
	if got := moveMakefile(generate + mine + machinery).text; !strings.HasSuffix(got, mine+machinery) {
		t.Errorf("with a target that needs it:\n%s", got)
	}
	want := "# The operon command.\nOPERON ?= operon\n\ngenerate:\n\t$(OPERON) controller-gen object paths=./...\n"
	got := moveMakefile(generate + machinery).text
	if diff := cmp.Diff(want, strings.TrimPrefix(got, "\n")); diff != "" {
		t.Errorf("without (-want +got):\n%s", diff)
	}
}

func TestCommentsInARecipeStay(t *testing.T) {
	const old = `manifests: controller-gen
	$(CONTROLLER_GEN) crd paths=./...
	# The next one   is of no use, see ${HERE}:
	# $(CONTROLLER_GEN) makes it all the same.
	rm config/crd/bases/example.com_drafts.yaml
`
	const want = `# The operon command.
OPERON ?= operon

manifests:
	$(OPERON) controller-gen crd paths=./...
	# The next one   is of no use, see ${HERE}:
	# $(CONTROLLER_GEN) makes it all the same.
	rm config/crd/bases/example.com_drafts.yaml
`
	if diff := cmp.Diff(want, strings.TrimPrefix(moveMakefile(old).text, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTargetsThatCallNoToolAreNotNamed(t *testing.T) {
	const rules = "generate:\n\t$(CONTROLLER_GEN) object paths=./...\n\nsmoke:\n\t./smoke.sh\n\ne2e: kustomize\n\t./e2e.sh\n\nkind:\n\t$(KIND) create cluster\n"
	if diff := cmp.Diff([]string{"e2e", "kind"}, moveMakefile(rules).left); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestScriptsThatFetchedAssetsGo(t *testing.T) {
	const old = `ENVTEST_ASSETS_DIR=$(shell pwd)/testbin
test: manifests
	mkdir -p ${ENVTEST_ASSETS_DIR}
	test -f ${ENVTEST_ASSETS_DIR}/setup-envtest.sh || curl -o ${ENVTEST_ASSETS_DIR}/setup-envtest.sh https://example.com/setup-envtest.sh
	source ${ENVTEST_ASSETS_DIR}/setup-envtest.sh; fetch_envtest_tools $(ENVTEST_ASSETS_DIR); setup_envtest_env $(ENVTEST_ASSETS_DIR); go test ./... -coverprofile cover.out
`
	got := moveMakefile(old).text
	if !strings.Contains(got, "test: manifests\n\tOPERON=\"$$(realpath \"$$(command -v $(OPERON))\")\" go test ./... -coverprofile cover.out\n") || strings.Contains(got, "ASSETS") {
		t.Errorf("%s", got)
	}
}

func FuzzMakefile(f *testing.F) {
	f.Add("IMG ?= a\n\n.PHONY: run\nrun: manifests ## Run.\n\tgo run ./main.go\n")
	f.Add("define x\na\nendef\nifeq (a,b)\nGOBIN=c\nendif\n")
	f.Add("a: \\\n b\n\tc\n\n\td\n##@ Head\n\n# end")
	f.Fuzz(func(t *testing.T, text string) {
		var lines []string
		for _, it := range parseMakefile(text) {
			lines = append(lines, slices.Repeat([]string{""}, it.blank)...)
			lines = append(lines, it.lines()...)
		}
		keep := func(lines []string) string {
			return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" }), "\n")
		}
		if diff := cmp.Diff(keep(strings.Split(text, "\n")), keep(lines)); diff != "" {
			t.Errorf("what is parsed is not what was there (-there +parsed):\n%s", diff)
		}
		once := moveMakefile(text)
		if again := moveMakefile(once.text); again.text != once.text {
			t.Errorf("moved twice (-once +twice):\n%s", cmp.Diff(once.text, again.text))
		}
	})
}
