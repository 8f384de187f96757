package cli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/cmd/operon/generate/cli"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// reported runs a command line and reads its report.
func reported(t *testing.T, args ...string) (int, cli.Report) {
	t.Helper()
	code, stdout, stderr := run(append(args, "-o", "json")...)
	if stderr != "" {
		t.Errorf("standard error has %q", stderr)
	}
	var report cli.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	return code, report
}

func TestAReportHasChangedFilesAndWarnings(t *testing.T) {
	module(t, "// +kubebuilder:object:generate=true\npackage a\n\n// +kubebuilder:validtion:Minimum=1\ntype T struct{ P *int }\n")
	warnings := []diag.Entry{{
		File: "a/a.go", Line: 4, Column: 4, Length: 30, Message: "no generator knows the marker +kubebuilder:validtion:Minimum", Suggestion: "did you mean +kubebuilder:validation:Minimum?",
	}}
	for round, changed := range [][]string{{"a/zz_generated.deepcopy.go"}, {}} {
		code, report := reported(t, "object", "paths=./a")
		if diff := cmp.Diff(cli.Report{Changed: changed, Mistakes: []diag.Entry{}, Warnings: warnings}, report); diff != "" || code != 0 {
			t.Errorf("round %d: exit code %d (-want +got):\n%s", round, code, diff)
		}
	}
}

func TestAReportHasMistakes(t *testing.T) {
	module(t, strings.ReplaceAll(ruled, `self > 'a'`, `true"`))
	code, report := reported(t, "crd", "object", "paths=./a")
	if code != 1 || len(report.Mistakes) == 0 || report.Mistakes[0].File != "a/a.go" || report.Mistakes[0].Line == 0 || len(report.Changed) > 0 || files(t) != "" {
		t.Errorf("exit code %d, %q: %+v", code, files(t), report)
	}
}

func TestAReportHasWhatElseStopsARun(t *testing.T) {
	module(t, types)
	if err := os.Mkdir("a/zz_generated.deepcopy.go", 0o755); err != nil {
		t.Fatal(err)
	}
	code, report := reported(t, "object", "paths=./a")
	if code != 1 || !strings.Contains(report.Error, "is a directory") {
		t.Errorf("exit code %d: %+v", code, report)
	}
}

func TestAReportAndArtifactsAreNotMixed(t *testing.T) {
	module(t, types)
	for args, want := range map[string]string{"rbac:roleName=r paths=./a output:stdout -o json": "choose one", "object paths=./a -o yaml": "give text or json"} {
		if code, stdout, stderr := run(strings.Fields(args)...); code != 1 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}
