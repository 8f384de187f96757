package migrate

import (
	"regexp"
	"slices"
	"strings"
)

// A makefileResult is a Makefile as it will be, and what of it was left alone.
type makefileResult struct {
	text string
	// left are the targets that a person made and that call a tool, and those of Kubebuilder's that a person has changed.
	left []string
}

// moveMakefile has the targets of a Makefile call operon where they called downloaded tools, and takes out what downloaded them unless what
// stays needs it.
func moveMakefile(text string) makefileResult {
	items := parseMakefile(text)
	result := makefileResult{}
	moved := false
	for _, it := range items {
		if it.kind != kindRule || it.machinery() {
			continue
		}
		switch recipe, known := moveRecipe(it); {
		case recipe != nil:
			it.setRecipe(recipe)
			moved = true
		case !known && (isStock(it.names[0]) || it.usesTools()):
			result.left = append(result.left, it.names[0])
		}
	}
	if !moved {
		return makefileResult{text: text, left: result.left}
	}
	for _, it := range items {
		it.gone = it.machinery()
	}
	for keepNeeded(items) {
	}
	result.text = formatMakefile(items)
	return result
}

// tools are the variables that name a downloaded tool, with what stands in for it.
var tools = map[string]string{
	"CONTROLLER_GEN": "$(OPERON) controller-gen",
	"KUSTOMIZE":      "$(OPERON) kustomize",
	"KUBECTL":        "$(OPERON) kubectl",
}

// toolVariables are the variables of the downloaded tools that operon does the work of.
var toolVariables = []string{"CONTROLLER_GEN", "KUSTOMIZE", "KUBECTL", "ENVTEST", "SETUP_ENVTEST", "KIND"}

// toolTargets are the targets that download a tool that operon stands in for: nothing that is moved depends on them any more.
var toolTargets = []string{
	"controller-gen", "kustomize", "envtest", "setup-envtest",
	"$(CONTROLLER_GEN)", "$(KUSTOMIZE)", "$(ENVTEST)", "$(SETUP_ENVTEST)",
}

// machineryNames are the targets, variables and definitions with which Kubebuilder's and Operator-SDK's Makefiles download tools.
var machineryNames = append([]string{
	"golangci-lint", "$(GOLANGCI_LINT)", "$(LOCALBIN)",
	"KUBECTL", "KIND", "KUSTOMIZE", "CONTROLLER_GEN", "ENVTEST", "SETUP_ENVTEST", "GOLANGCI_LINT", "LOCALBIN", "GOBIN", "CONTAINER_TOOL",
	"KUSTOMIZE_VERSION", "CONTROLLER_TOOLS_VERSION", "ENVTEST_VERSION", "ENVTEST_K8S_VERSION", "GOLANGCI_LINT_VERSION",
	"KUSTOMIZE_INSTALL_SCRIPT", "ENVTEST_ASSETS_DIR", "PROJECT_DIR", "ignore-not-found",
	"go-install-tool", "go-get-tool", "gomodver",
}, toolTargets...)

// The recipes that Kubebuilder and Operator-SDK make, as regular expressions of a logical line.
var (
	goRunMain    = regexp.MustCompile(`^go run (\./)?(cmd/)?(main\.go|cmd)$`)
	imageBuild   = regexp.MustCompile(`^(\$\(CONTAINER_TOOL\)|docker|podman) build -t \$\(IMG\) \.$`)
	imagePush    = regexp.MustCompile(`^(\$\(CONTAINER_TOOL\)|docker|podman) push \$\(IMG\)$`)
	setImage     = regexp.MustCompile(`^cd config/manager && \$\(KUSTOMIZE\) edit set image controller=\$\(IMG\)$`)
	applyCRDs    = regexp.MustCompile(`^@?(out=.*)?\$\(KUSTOMIZE\) build config/crd .*apply .*-f -`)
	deleteCRDs   = regexp.MustCompile(`^@?(out=.*)?\$\(KUSTOMIZE\) build config/crd .*delete .*-f -`)
	applyAll     = regexp.MustCompile(`^\$\(KUSTOMIZE\) build config/default \| \S+ apply .*-f -$`)
	deleteAll    = regexp.MustCompile(`^\$\(KUSTOMIZE\) build config/default \| \S+ delete .*-f -$`)
	testAssets   = regexp.MustCompile(`KUBEBUILDER_ASSETS="?\$\(shell .*?-p path\)"?`)
	scriptAssets = regexp.MustCompile(`^source .*setup-envtest\.sh;.*setup_envtest_env.*; *(go test .*)$`)
	scriptFetch  = regexp.MustCompile(`^(mkdir -p|test -f) \S*ENVTEST_ASSETS_DIR.*$`)
)

// operonTest is what a call of go test has before it, so that its suites start operon.
const operonTest = `OPERON="$$(realpath "$$(command -v $(OPERON))")"`

// buildForAll is the recipe of docker-buildx.
const buildForAll = "$(OPERON) build --image=$(IMG) --platform=$(PLATFORMS) --push"

// stock are the targets whose whole recipe is a call of operon, with what each line of it was.
var stock = map[string]struct {
	lines  []*regexp.Regexp
	recipe string
}{
	"run":          {[]*regexp.Regexp{goRunMain}, "$(OPERON) run$(if $(filter command,$(origin KUBECONFIG)), --kubeconfig=$(KUBECONFIG))"},
	"docker-build": {[]*regexp.Regexp{imageBuild}, "$(OPERON) build --image=$(IMG)"},
	"docker-push":  {[]*regexp.Regexp{imagePush}, "$(OPERON) push --image=$(IMG)"},
	"install":      {[]*regexp.Regexp{applyCRDs}, "$(OPERON) install"},
	"uninstall":    {[]*regexp.Regexp{deleteCRDs}, "$(OPERON) uninstall"},
	"deploy":       {[]*regexp.Regexp{setImage, applyAll}, "$(OPERON) deploy --image=$(IMG)"},
	"undeploy":     {[]*regexp.Regexp{deleteAll}, "$(OPERON) undeploy"},
}

// toolCallers are the targets of Kubebuilder's and Operator-SDK's in which calls of tools are moved one by one.
var toolCallers = []string{"test", "manifests", "generate", "build-installer", "docker-buildx"}

// isStock reports whether a target is one of those that are moved where they are as Kubebuilder or Operator-SDK made them.
func isStock(name string) bool {
	_, ok := stock[name]
	return ok || slices.Contains(toolCallers, name)
}

// moveRecipe returns the recipe of a target that calls operon, or nil where it isn't one that can be moved. known says that there is nothing in it
// to move.
func moveRecipe(it *item) (recipe []string, known bool) {
	name, lines := it.names[0], it.logicalRecipe()
	if s, ok := stock[name]; ok {
		lines = slices.DeleteFunc(lines, isComment) // they are about what goes
		if slices.Equal(lines, []string{s.recipe}) {
			return nil, true
		}
		for _, line := range lines {
			if !slices.ContainsFunc(s.lines, func(re *regexp.Regexp) bool { return re.MatchString(line) }) {
				return nil, false
			}
		}
		if len(lines) == 0 {
			return nil, false
		}
		return []string{s.recipe}, true
	}
	switch name {
	case "test":
		return moveTest(lines)
	case "manifests", "generate", "build-installer":
		return moveTools(lines)
	case "docker-buildx":
		if slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "Dockerfile.cross") }) {
			return []string{buildForAll}, true
		}
		return nil, slices.Equal(slices.DeleteFunc(lines, isComment), []string{buildForAll})
	}
	return nil, false
}

// moveTest has go test find operon instead of downloaded programs.
func moveTest(lines []string) (recipe []string, known bool) {
	moved := false
	for _, line := range lines {
		switch {
		case isComment(line):
		case scriptFetch.MatchString(line):
			moved = true
			continue
		case scriptAssets.MatchString(line):
			line, moved = operonTest+" "+scriptAssets.FindStringSubmatch(line)[1], true
		case testAssets.MatchString(line):
			line, moved = testAssets.ReplaceAllLiteralString(line, operonTest), true
		case strings.Contains(line, operonTest):
			known = true
		}
		recipe = append(recipe, line)
	}
	if !moved {
		return nil, known
	}
	return recipe, true
}

// moveTools has lines call operon where they call a tool.
func moveTools(lines []string) (recipe []string, known bool) {
	moved := false
	for _, line := range lines {
		for variable, operon := range tools {
			if !isComment(line) && strings.Contains(line, "$("+variable+")") {
				line, moved = strings.ReplaceAll(line, "$("+variable+")", operon), true
			}
		}
		known = known || strings.Contains(line, "$(OPERON)")
		recipe = append(recipe, line)
	}
	if !moved {
		return nil, known
	}
	return recipe, true
}
