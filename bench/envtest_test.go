package main

import (
	"os"
	"os/exec"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
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

// A suite of controller-runtime's own envtest cannot tell the programs that "operon setup-envtest" gives it from downloaded ones.
func TestControllerRuntimesEnvtestRunsOnOperonsPrograms(t *testing.T) {
	dir := assets(t)
	t.Setenv("KUBEBUILDER_ASSETS", dir)
	env := &crenvtest.Environment{ControlPlaneStartTimeout: startLimit, ControlPlaneStopTimeout: startLimit}
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
