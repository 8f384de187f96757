package main

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/operon-dev/operon/pkg/envtest"
)

// assets runs "operon setup-envtest use" as a Makefile would and returns the directory that it prints.
func assets(t testing.TB) string {
	t.Helper()
	operon := os.Getenv("OPERON")
	if operon == "" {
		t.Skip("OPERON, the path of the operon command, is not set: make build, then export OPERON=<checkout>/bin/operon")
	}
	out, err := exec.Command(operon, "setup-envtest", "use", "--bin-dir", t.TempDir(), "-p", "path").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// suite is what both environments are.
type suite interface {
	Start() (*rest.Config, error)
	Stop() error
}

// A suite of controller-runtime's own envtest cannot tell the programs that "operon setup-envtest" gives it from downloaded ones.
func TestControllerRuntimesEnvtestRunsOnOperonsPrograms(t *testing.T) {
	dir := assets(t)
	t.Setenv("KUBEBUILDER_ASSETS", dir)
	env := &crenvtest.Environment{}
	env.ControlPlane.GetAPIServer().Configure().Append("disable-admission-plugins", "ResourceQuota")
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}()
	jane, err := env.AddUser(crenvtest.User{Name: "jane", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []*rest.Config{cfg, jane.Config()} {
		client, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if version, err := client.Discovery().ServerVersion(); err != nil || version.Minor == "" {
			t.Errorf("version %v, %v", version, err)
		}
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}}
		if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	}
	kubectl, err := jane.Kubectl()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := kubectl.Run("get", "configmaps"); err != nil {
		t.Error(err)
	}
}

// BenchmarkEnvtest starts and stops environments in turn, so that both meet the same machine. It reports medians in seconds; use
// -benchtime=5x.
func BenchmarkEnvtest(b *testing.B) {
	dir := assets(b)
	crlog.SetLogger(logr.Discard())
	kinds := []struct {
		name   string
		assets string
		make   func() suite
	}{
		{"controller-runtime", dir, func() suite { return &crenvtest.Environment{} }},
		{"operon", "", func() suite { return &envtest.Environment{} }},
		{"operon-same-assets", dir, func() suite { return &envtest.Environment{} }},
		{"operon-shared", "", func() suite { return &envtest.Environment{Shared: true} }},
	}
	starts, stops := make([][]float64, len(kinds)), make([][]float64, len(kinds))
	for b.Loop() {
		for i, kind := range kinds {
			b.Setenv("KUBEBUILDER_ASSETS", kind.assets)
			env := kind.make()
			began := time.Now()
			if _, err := env.Start(); err != nil {
				b.Fatal(err)
			}
			starts[i] = append(starts[i], time.Since(began).Seconds())
			began = time.Now()
			if err := env.Stop(); err != nil {
				b.Fatal(err)
			}
			stops[i] = append(stops[i], time.Since(began).Seconds())
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, kind := range kinds {
		b.ReportMetric(middle(starts[i]), "s-start/"+kind.name)
		b.ReportMetric(middle(stops[i]), "s-stop/"+kind.name)
	}
}

func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
