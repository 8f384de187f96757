package migrate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
)

func TestModulesThatAreHeldBackAreNamedWithTheWayOut(t *testing.T) {
	const before = "module example.com/p\n\nrequire (\n\tk8s.io/client-go v0.34.1\n\tk8s.io/metrics v0.34.0\n\tk8s.io/klog v0.2.0\n\tgoogle.golang.org/grpc v1.80.0\n)\n"
	const after = `module example.com/p

require (
	google.golang.org/grpc v1.80.0
	k8s.io/apimachinery v0.37.1
	k8s.io/client-go v0.37.1
	k8s.io/cluster-bootstrap v0.34.0 // indirect
	k8s.io/klog v0.2.0
	k8s.io/klog/v2 v2.140.0
	k8s.io/kubernetes v1.34.0
	k8s.io/metrics v0.34.0
	k8s.io/utils v0.0.0-20260626114624-be93311217bd
)
`
	const left = "go.mod leaves k8s.io/metrics v0.34.0 behind client-go v0.37.1: go get k8s.io/metrics@v0.37.1"
	for name, tt := range map[string]struct {
		before, replaces string
		want             []string
	}{
		"a module of Kubernetes that Operon does not need": {before: before, want: []string{left}},
		"replaced by an older version": {
			before:   before,
			replaces: "replace (\n\tk8s.io/client-go => k8s.io/client-go v0.34.0\n\tk8s.io/apimachinery v0.37.1 => k8s.io/apimachinery v0.34.0\n)\n",
			want: []string{
				"go.mod still replaces k8s.io/client-go v0.37.1 by v0.34.0, k8s.io/apimachinery v0.37.1 by v0.34.0: " +
					"go mod edit -dropreplace=k8s.io/client-go -dropreplace=k8s.io/apimachinery@v0.37.1",
				left,
			},
		},
		"replaced by as new a version, by a directory, by a fork, or for another version": {
			before: before,
			replaces: "replace (\n\tk8s.io/client-go => k8s.io/client-go v0.37.2\n\tk8s.io/apimachinery => ../apimachinery\n" +
				"\tk8s.io/klog/v2 => example.com/klog/v2 v2.0.0\n\tk8s.io/utils v0.0.0-20250101000000-000000000000 => k8s.io/utils v0.0.0-20240101000000-000000000000\n)\n",
			want: []string{left},
		},
		"a choice of the project's, of a module that was not raised": {
			before: after, replaces: "replace google.golang.org/grpc => google.golang.org/grpc v1.70.0\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			was, err := gomodule.Parse(tt.before)
			if err != nil {
				t.Fatal(err)
			}
			is, err := gomodule.Parse(after + tt.replaces)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Join(tt.want, "\n"), strings.Join(heldBack(was, is), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextsThatNameControllerRuntimeAreToldFromThoseThatNameItsTools(t *testing.T) {
	for text, want := range map[string]bool{
		"mockgen sigs.k8s.io/controller-runtime/pkg/client Client > mock.go":     true,
		"go install sigs.k8s.io/controller-runtime/tools/setup-envtest@latest":   false,
		"sigs.k8s.io/controller-runtime/tools/setup-envtest\ncontroller-runtime": false,
		"sigs.k8s.io/controller-runtime\nsigs.k8s.io/controller-runtime/tools/x": true,
	} {
		if got := namesLibrary(text); got != want {
			t.Errorf("namesLibrary(%q) is %t", text, got)
		}
	}
}
