package migrate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProgramsThatAreModulesOfTheirOwnStayImported(t *testing.T) {
	const tools = "package tools\n\nimport _ \"sigs.k8s.io/controller-runtime/tools/setup-envtest\"\n"
	got, err := apply("tools.go", tools+"import _ \"sigs.k8s.io/controller-runtime/pkg/client\"\n", moveImports)
	want := tools + "import _ \"github.com/operon-dev/operon/pkg/client\"\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
