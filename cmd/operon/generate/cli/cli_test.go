package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/cli"
)

const types = `// +kubebuilder:object:generate=true
package a

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get

func f() {}

type T struct{ P *int }
`

// module makes a module with one package, a, and moves into it.
func module(t *testing.T, source string) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("GOWORK", "off")
	t.Setenv("OPERON_GENERATE_CACHE", t.TempDir())
	if err := os.Mkdir("a", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "a/a.go": source} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func run(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Main(args, &out, &errs)
	return code, out.String(), errs.String()
}

func files(t *testing.T) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != "go.mod" && path != filepath.Join("a", "a.go") {
			names = append(names, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// As controller-gen does it: the marker +kubebuilder:ac:output:package alone says where they go.
func TestApplyConfigurationsStayBesideTheirPackage(t *testing.T) {
	for rule, want := range map[string]string{
		"output:dir=out":                     "a/applyconfiguration/internal/internal.go a/applyconfiguration/utils.go",
		"output:artifacts:config=c,code=out": "a/applyconfiguration/internal/internal.go a/applyconfiguration/utils.go",
		"output:stdout":                      "a/applyconfiguration/internal/internal.go a/applyconfiguration/utils.go",
		"output:none":                        "",
	} {
		t.Run(rule, func(t *testing.T) {
			module(t, "// +groupName=x.example.com\n// +kubebuilder:ac:generate=true\npackage a\n")
			code, stdout, stderr := run("applyconfiguration", "paths=./a", rule)
			if code != 0 || stdout != "" {
				t.Fatalf("exit code %d, standard output %q: %s", code, stdout, stderr)
			}
			if got := files(t); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestOutputRulesPlaceFiles(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"object rbac:roleName=r paths=./...", "a/zz_generated.deepcopy.go config/rbac/role.yaml"},
		{"object rbac:roleName=r paths=./... output:dir=out", "out/role.yaml out/zz_generated.deepcopy.go"},
		{"object rbac:roleName=r paths=./... output:artifacts:config=c,code=d", "c/role.yaml d/zz_generated.deepcopy.go"},
		{"object rbac:roleName=r paths=./... output:rbac:dir=x", "a/zz_generated.deepcopy.go x/role.yaml"},
		{"object rbac:roleName=r paths=./... output:none output:rbac:dir=x", "x/role.yaml"},
		{"object paths={./a,example.com/m/a}", "a/zz_generated.deepcopy.go"},
		{"rbac:roleName=r paths=./... output:stdout", ""},
	} {
		t.Run(tt.args, func(t *testing.T) {
			module(t, types)
			code, stdout, stderr := run(strings.Fields(tt.args)...)
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			if got := files(t); got != tt.want {
				t.Errorf("files %q, want %q", got, tt.want)
			}
			if wantPrinted := strings.HasSuffix(tt.args, "stdout"); strings.Contains(stdout, "kind: ClusterRole") != wantPrinted {
				t.Errorf("printed a role: %t, want %t", !wantPrinted, wantPrinted)
			}
		})
	}
}

func TestBadCommandLinesSayTheWayOut(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "the others are applyconfiguration, conversion, crd"},
		{"paths=./...", "no generator"},
		{"objct paths=./...", `did you mean object?`},
		{"foo=bar", "the generators are applyconfiguration, conversion, crd"},
		{"applyconfiguration:externalApplyConfigurations=a.B paths=./...", "PACKAGE.TYPE@PACKAGE"},
		{"rbac paths=./...", `roleName`},
		{"rbac:roleNam=x paths=./...", `did you mean "roleName"?`},
		{"crd:allowDangerousTypes paths=./...", `has no value: allowDangerousTypes=<bool>`},
		{"crd:allowDangerousTypez paths=./...", `did you mean "allowDangerousTypes"?`},
		{"crd:maxDescLen=many paths=./...", "maxDescLen=many"},
		{"object object paths=./...", "there already"},
		{"object output:crd:dir=x paths=./...", "add crd"},
		{"object output:nowhere paths=./...", `output:none`},
		{"object:headerFile=missing.txt paths=./...", "headerFile: open missing.txt"},
		{"object paths=./missing", "missing"},
		{"object paths=./... --bogus", "--help lists the flags"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			module(t, types)
			code, _, stderr := run(strings.Fields(tt.args)...)
			if code == 0 || !strings.Contains(stderr, tt.want) {
				t.Errorf("exit code %d and %q, want a failure that says %q", code, stderr, tt.want)
			}
			if got := files(t); got != "" {
				t.Errorf("it wrote %s", got)
			}
		})
	}
}

func TestAMistakeOfOneGeneratorKeepsAllFromWriting(t *testing.T) {
	module(t, strings.Replace(types, "verbs=get", "verbs=gte;wach", 1)+"\ntype U struct{ F func() }\n")
	code, _, stderr := run("object", "rbac:roleName=r", "paths=./...")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, want := range []string{"a/a.go:4:", `did you mean "watch"?`, "a/a.go:10:", "a function cannot be deep-copied", "2 mistakes, nothing is written"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in:\n%s", want, stderr)
		}
	}
	if got := files(t); got != "" {
		t.Errorf("it wrote %s", got)
	}
}

func TestAFileThatIsTheSameIsNotTouched(t *testing.T) {
	module(t, types)
	args := []string{"object", "rbac:roleName=r", "paths=./..."}
	if code, _, stderr := run(args...); code != 0 {
		t.Fatal(stderr)
	}
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	role := filepath.Join("config", "rbac", "role.yaml")
	generated := filepath.Join("a", "zz_generated.deepcopy.go")
	if err := os.WriteFile(role, []byte("stale"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{role, generated} {
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, long, long); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, stderr := run(args...); code != 0 {
		t.Fatal(stderr)
	}
	info, err := os.Stat(generated)
	if err != nil {
		t.Fatal(err)
	}
	if !info.ModTime().Equal(long) {
		t.Errorf("%s was written again", generated)
	}
	if info, err = os.Stat(role); err != nil {
		t.Fatal(err)
	}
	if info.ModTime().Equal(long) || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: modified %s, mode %s: want it new, with its old mode", role, info.ModTime(), info.Mode())
	}
}

func TestMarkersWithoutEffectAreWarnings(t *testing.T) {
	source := strings.Replace(types, "type T", "// +kubebuilder:object:rot=true\ntype T", 1)
	module(t, source)
	code, _, stderr := run("object", "paths=./...")
	if code != 0 || !strings.Contains(stderr, "did you mean +kubebuilder:object:root?") {
		t.Errorf("exit code %d and %q, want a warning that names the marker meant", code, stderr)
	}
	module(t, source)
	code, _, stderr = run("object", "paths=./...", "--strict")
	if code != 1 || files(t) != "" {
		t.Errorf("with --strict: exit code %d, files %q and %q, want a mistake", code, files(t), stderr)
	}
	code, _, stderr = run("object", "paths=./...", "--strict-markers")
	if code != 1 || files(t) != "" || !strings.Contains(stderr, "--strict-markers=false") {
		t.Errorf("with --strict-markers: exit code %d, files %q and %q, want a mistake, and the way out", code, files(t), stderr)
	}
	code, _, stderr = run("object", "paths=./...", "--strict-markers", "--strict-markers=false")
	if code != 0 || files(t) == "" {
		t.Errorf("with --strict-markers=false last: exit code %d, files %q and %q, want a warning", code, files(t), stderr)
	}
}

func TestANameThatIsNotThereIsOneMistake(t *testing.T) {
	ruledModule(t, strings.Replace(ruled, "\tSize int", "\tSize Missing", 1))
	code, _, stderr := run("object", "crd", "paths=./a")
	if code != 1 || strings.Count(stderr, "undefined") != 1 || !strings.Contains(stderr, "1 mistake,") {
		t.Errorf("exit code %d and %q, want one mistake", code, stderr)
	}
}

func TestWithoutPathsThereIsNothingToRead(t *testing.T) {
	module(t, types)
	if code, _, stderr := run("object"); code != 1 || !strings.Contains(stderr, "paths=./...") {
		t.Errorf("exit code %d and %q, want the argument that is missing", code, stderr)
	}
}

func TestListings(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"-h", "+rbac["},
		{"-hh", "[fileName=<string>]"},
		{"object -w", "+kubebuilder:object:root=<bool>"},
		{"webhook -ww", "[timeoutSeconds=<int>]"},
		{"rbac:roleName=x -www", "// +kubebuilder:rbac:groups=apps"},
		{"--help", "--load-build-tags"},
		{"--version", "v0.23.0"},
	} {
		if code, stdout, stderr := run(strings.Fields(tt.args)...); code != 0 || !strings.Contains(stdout, tt.want) {
			t.Errorf("%s: exit code %d, no %q in:\n%s%s", tt.args, code, tt.want, stdout, stderr)
		}
	}
	for _, args := range []string{"-hhhh", "object crd -wwww"} {
		_, stdout, _ := run(strings.Fields(args)...)
		var sections []struct {
			Category string
			Markers  []struct{ Name, Target string }
		}
		if err := json.Unmarshal([]byte(stdout), &sections); err != nil || len(sections) == 0 {
			t.Errorf("%s: %v in %q", args, err, stdout)
		}
	}
}

const ruled = `// +groupName=example.com
package a

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Thing struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	// +kubebuilder:validation:XValidation:rule="self > 'a'"
	Size int ` + "`json:\"size\"`" + `
}
`

const metadata = `package v1

type TypeMeta struct{}

type ObjectMeta struct{}
`

// ruledModule makes a module of a source with kinds.
func ruledModule(t *testing.T, source string) {
	t.Helper()
	module(t, source)
	if err := os.MkdirAll("vendor/k8s.io/apimachinery/pkg/apis/meta/v1", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"go.mod":             "module example.com/m\n\ngo 1.26\n\nrequire k8s.io/apimachinery v0.0.0\n",
		"vendor/modules.txt": "# k8s.io/apimachinery v0.0.0\n## explicit; go 1.26\nk8s.io/apimachinery/pkg/apis/meta/v1\n",
		"vendor/k8s.io/apimachinery/pkg/apis/meta/v1/meta.go": metadata,
	} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatTheAPIServerRefusesIsWrittenOnlyWhenThatIsAllowed(t *testing.T) {
	ruledModule(t, strings.Replace(ruled, "\tSize int", "\t// +kubebuilder:default=x\n\tSize int", 1))
	verdict := []generate.Refusal{
		{Path: "spec.validation.openAPIV3Schema.properties[size].x-kubernetes-validations[0].rule", Detail: "no"},
		{Path: "spec.validation.openAPIV3Schema.properties[size].type", Detail: "nothing says so"},
	}
	judge := func(context.Context, []byte) ([]generate.Refusal, error) { return verdict, nil }
	for _, tt := range []struct {
		args    string
		code    int
		written bool
		said    []string
	}{
		{"", 1, false, []string{"a.go:11:26: the default is a string", "a.go:10:41: the rule", "2 mistakes, nothing is written", "--allow-refused writes"}},
		{"--allow-refused", 0, true, []string{"warning: the API server would refuse this as it is", "a.go:11:26: the default is a string", "a.go:10:41: the rule"}},
		{"--allow-refused --strict", 0, true, []string{"a.go:10:41: the rule"}},
		{"-o json", 1, false, nil},
		{"--allow-refused -o json", 0, true, nil},
	} {
		t.Run(tt.args, func(t *testing.T) {
			if err := os.RemoveAll("config"); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"crd", "paths=./a"}, strings.Fields(tt.args)...)
			var out, errs bytes.Buffer
			code := cli.Begin(args, &out, &errs).End(judge)
			_, err := os.Stat("config/crd")
			if code != tt.code || (err == nil) != tt.written {
				t.Errorf("exit code %d, written %t: %s", code, err == nil, errs.String())
			}
			for _, want := range tt.said {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("no %q in:\n%s", want, errs.String())
				}
			}
			if tt.said != nil {
				return
			}
			var report cli.Report
			if err := json.Unmarshal(out.Bytes(), &report); err != nil {
				t.Fatal(err)
			}
			list := report.Mistakes
			if tt.written {
				list = report.Warnings
			}
			if len(list) != 2 || !list[0].Refused || !list[1].Refused {
				t.Errorf("said is %+v", report)
			}
		})
	}
	again := func() string {
		var out, errs bytes.Buffer
		run := cli.Begin([]string{"crd", "paths=./a", "--allow-refused"}, &out, &errs)
		if run.Unjudged() || run.End(nil) != 0 {
			t.Error("what is allowed is not remembered")
		}
		return errs.String()
	}
	if said := again(); !strings.Contains(said, "the API server would refuse this") {
		t.Errorf("a run that changes nothing does not warn: %q", said)
	}
}

func TestMistakesInTheSourceAreNeverAllowed(t *testing.T) {
	ruledModule(t, strings.Replace(ruled, "\tSize int", "\tC chan int\n\tSize int", 1))
	code, _, stderr := run("crd", "paths=./a", "--allow-refused")
	if code != 1 || strings.Contains(files(t), "config") || strings.Contains(stderr, "--allow-refused") {
		t.Errorf("exit code %d, %q: %s", code, files(t), stderr)
	}
}

func TestDefinitionsAreWrittenOnlyWhenTheyAreJudged(t *testing.T) {
	ruledModule(t, ruled)
	var asked int
	verdict := []generate.Refusal{{Path: "spec.validation.openAPIV3Schema.properties[size].x-kubernetes-validations[0].rule", Detail: "no"}}
	judge := func(_ context.Context, object []byte) ([]generate.Refusal, error) {
		asked++
		if !strings.Contains(string(object), "self \\u003e 'a'") {
			t.Errorf("judged is %s", object)
		}
		return verdict, nil
	}
	generated := func() string {
		names, err := filepath.Glob("config/crd/*")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(names, " ")
	}
	args := []string{"crd", "paths=./a"}

	var out, errs bytes.Buffer
	run := cli.Begin(args, &out, &errs)
	if !run.Unjudged() || generated() != "" {
		t.Fatalf("no judge is needed, or %q is there already: %s", generated(), errs.String())
	}
	if code := run.End(judge); code != 1 || asked != 1 || generated() != "" || !strings.Contains(errs.String(), "a.go:10:41: the rule is refused by the API server: no") {
		t.Fatalf("exit code %d, asked %d times, %q: %s", code, asked, generated(), errs.String())
	}
	errs.Reset()
	if run = cli.Begin(args, &out, &errs); run.Unjudged() || run.End(nil) != 1 || !strings.Contains(errs.String(), "the rule is refused") {
		t.Fatalf("the verdict is forgotten: %s", errs.String())
	}

	t.Setenv("OPERON_GENERATE_CACHE", t.TempDir())
	for _, accepted := range []bool{false, true} {
		run = cli.Begin(args, &out, &errs)
		run.Settle(func(_ context.Context, definitions [][]byte) ([]bool, error) {
			if len(definitions) != 1 {
				t.Errorf("%d definitions are checked, not 1", len(definitions))
			}
			return []bool{accepted}, nil
		})
		if run.Unjudged() == accepted {
			t.Errorf("accepted is %v, and whether a judge is needed too", accepted)
		}
	}
	if run.End(nil) != 0 || asked != 1 || generated() == "" {
		t.Fatalf("asked %d times, %q: %s", asked, generated(), errs.String())
	}

	verdict = nil
	t.Setenv("OPERON_GENERATE_CACHE", t.TempDir())
	if code := cli.Begin(args, &out, &errs).End(judge); code != 0 || asked != 2 || generated() == "" {
		t.Fatalf("exit code %d, asked %d times, %q: %s", code, asked, generated(), errs.String())
	}
	source, err := os.ReadFile("a/a.go")
	if err != nil {
		t.Fatal(err)
	}
	commented := strings.Replace(string(source), "type Thing", "// Thing is commented.\ntype Thing", 1)
	if err := os.WriteFile("a/a.go", []byte(commented), 0o644); err != nil {
		t.Fatal(err)
	}
	if run := cli.Begin(args, &out, &errs); run.Unjudged() || run.End(nil) != 0 {
		t.Errorf("a comment changes the verdict: %s", errs.String())
	}
}
