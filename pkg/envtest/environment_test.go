//go:build unix

package envtest

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

const (
	envBinary = "OPERON"
	plainArgs = "cluster --stop-on-stdin-eof --nodes=0 --api-only=true"
)

// fake makes Start run the test binary in a role of playCommand.
func fake(t *testing.T, role string) *Environment {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(envBinary, binary)
	t.Setenv(envFake, role)
	t.Setenv(envFakeArgs, plainArgs)
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("KUBEBUILDER_ASSETS", "")
	return &Environment{}
}

func leftovers(t *testing.T) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "operon-*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestStartGivesAConfigAndStopLeavesNothing(t *testing.T) {
	env := fake(t, "good")
	pidFile := filepath.Join(t.TempDir(), "pid")
	t.Setenv(envFakePID, pidFile)
	early, err := env.AddUser(User{Name: "early"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Host != "https://127.0.0.1:1/" || string(cfg.CertData) != "a certificate" || string(cfg.KeyData) != "a key" {
		t.Errorf("config = %v", cfg)
	}
	if early.Config().Host != cfg.Host {
		t.Errorf("config of a user from before Start = %v", early.Config())
	}
	if !strings.Contains(string(env.KubeConfig), "server: https://127.0.0.1:1\n") {
		t.Errorf("KubeConfig = %q", env.KubeConfig)
	}
	if err := env.Reset(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := env.Start(); err == nil {
		t.Error("a second Start succeeded")
	}
	if err := env.Stop(); err != nil {
		t.Error(err)
	}
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(string(pid))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(n, 0); err != syscall.ESRCH {
		t.Errorf("process %d after Stop: %v, want it to be gone", n, err)
	}
	if left := leftovers(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if env.Config != nil || env.KubeConfig != nil {
		t.Error("a stopped environment has a configuration")
	}
	if err := env.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	if _, err := env.Start(); err != nil {
		t.Errorf("Start after Stop: %v", err)
	}
	if err := env.Stop(); err != nil {
		t.Error(err)
	}
}

func TestFieldsBecomeArguments(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Environment)
		want   string
	}{
		"controllers": {func(e *Environment) { e.Controllers = true }, "cluster --stop-on-stdin-eof --nodes=0 --api-only=false"},
		"nodes":       {func(e *Environment) { e.Nodes = 3 }, "cluster --stop-on-stdin-eof --nodes=3 --api-only=false"},
		"a port": {func(e *Environment) { e.ControlPlane.GetAPIServer().SecureServing.Port = "7000" },
			plainArgs + " --port=7000"},
		"flags of the API server": {func(e *Environment) {
			e.ControlPlane.GetAPIServer().Configure().Append("disable-admission-plugins", "ResourceQuota").Set("max-requests-inflight", "7").Enable("profiling")
		}, plainArgs + " --kube-apiserver-arg=disable-admission-plugins=ServiceAccount --kube-apiserver-arg=disable-admission-plugins=ResourceQuota" +
			" --kube-apiserver-arg=max-requests-inflight=7 --kube-apiserver-arg=profiling"},
	} {
		t.Run(name, func(t *testing.T) {
			env := fake(t, "good")
			t.Setenv(envFakeArgs, tc.want)
			tc.change(env)
			if _, err := env.Start(); err != nil {
				t.Fatal(err)
			}
			if err := env.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhatCannotBeHadTogetherIsSaid(t *testing.T) {
	env := fake(t, "good")
	env.Controllers = true
	env.ControlPlane.Etcd = &Etcd{DataDir: t.TempDir()}
	_, err := env.Start()
	if err == nil || !strings.Contains(err.Error(), "Controllers") || !strings.Contains(err.Error(), "Etcd") {
		t.Errorf("error = %v", err)
	}
}

func TestStartReportsWhatTheCommandSaid(t *testing.T) {
	for _, tc := range []struct {
		role string
		want []string
	}{
		{role: "fails", want: []string{"ended before it was ready", "exit status 3", "port 6443 is in use"}},
		{role: "never-ready", want: []string{"not ready in time", "ControlPlaneStartTimeout gives 2s", "starting etcd"}},
	} {
		t.Run(tc.role, func(t *testing.T) {
			env := fake(t, tc.role)
			env.ControlPlaneStartTimeout = 2 * time.Second
			_, err := env.Start()
			if err == nil {
				_ = env.Stop()
				t.Fatal("Start succeeded")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if left := leftovers(t); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestStopReportsABadEnd(t *testing.T) {
	for _, tc := range []struct {
		role string
		want []string
	}{
		{role: "stops-badly", want: []string{"stopped badly", "exit status 1", "etcd did not stop"}},
		{role: "stubborn", want: []string{"did not stop within", "killed"}},
		{role: "dies", want: []string{"had ended by itself", "exit status 2", "no space left"}},
	} {
		t.Run(tc.role, func(t *testing.T) {
			env := fake(t, tc.role)
			env.ControlPlaneStopTimeout = 300 * time.Millisecond
			if tc.role == "stops-badly" {
				env.ControlPlaneStopTimeout = time.Minute
			}
			if _, err := env.Start(); err != nil {
				t.Fatal(err)
			}
			if tc.role == "dies" {
				// The command says that it obeys and ends; nobody answers the next order.
				_ = env.Reset(t.Context())
			}
			err := env.Stop()
			if err == nil {
				t.Fatal("Stop reported nothing")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestACommandThatIsNotThereIsExplained(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("KUBEBUILDER_ASSETS", "")
	for _, path := range []string{"", "/nonexistent/operon"} {
		t.Setenv(envBinary, path)
		_, err := (&Environment{}).Start()
		if err == nil || !strings.Contains(err.Error(), "make build") || !strings.Contains(err.Error(), "export OPERON=") {
			t.Errorf("OPERON=%q: error %v does not say how to get the command", path, err)
		}
	}
}

func TestFilesAreReadBeforeAnythingIsStarted(t *testing.T) {
	t.Setenv(envBinary, "/nonexistent/operon")
	absent := filepath.Join(t.TempDir(), "absent")
	bad := write(t, t.TempDir(), "bad.yaml", "just text\n")
	for want, env := range map[string]*Environment{
		"CustomResourceDefinitions: stat " + absent:           {CRDDirectoryPaths: []string{absent}, ErrorIfCRDPathMissing: true},
		"webhook configurations: stat " + absent:              {WebhookInstallOptions: WebhookInstallOptions{Paths: []string{absent}}},
		bad + ": document 1: not a Kubernetes object":         {CRDDirectoryPaths: []string{bad}},
		bad + ": document 1: not a Kubernetes object in YAML": {WebhookInstallOptions: WebhookInstallOptions{Paths: []string{bad}}},
		"CustomResourceDefinition 0 of those given is nil":    {CRDs: []*apiextensionsv1.CustomResourceDefinition{nil}},
	} {
		paths := len(env.CRDDirectoryPaths) + len(env.WebhookInstallOptions.Paths)
		if _, err := env.Start(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if left := len(env.CRDDirectoryPaths) + len(env.WebhookInstallOptions.Paths); left != paths {
			t.Errorf("%s: %d paths are left of %d: a second Start would not read them", want, left, paths)
		}
	}
}

func TestSettingsInTheEnvironmentAreChecked(t *testing.T) {
	for name, value := range map[string]string{
		envStartTimeout: "soon",
		envUseExisting:  "perhaps",
		envAttachOutput: "a bit",
	} {
		t.Run(name, func(t *testing.T) {
			env := fake(t, "good")
			t.Setenv(name, value)
			_, err := env.Start()
			if err == nil {
				_ = env.Stop()
			}
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v does not name %s", err, name)
			}
		})
	}
}

func TestAnExistingClusterIsUsedAsItIs(t *testing.T) {
	t.Setenv(envBinary, "/nonexistent/operon")
	yes := true
	given := &rest.Config{Host: "https://example.invalid"}
	env := &Environment{UseExistingCluster: &yes, Config: given}
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	if cfg != given {
		t.Error("Start did not return the given configuration")
	}
	if !strings.Contains(string(env.KubeConfig), "server: https://example.invalid\n") {
		t.Errorf("KubeConfig = %q", env.KubeConfig)
	}
	if err := env.Stop(); err != nil {
		t.Error(err)
	}
}

// A test that is killed gets no chance to call Stop.
func TestTheControlPlaneDiesWithAKilledTest(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(t.TempDir(), "lock")
	parent := exec.Command(binary)
	parent.Env = append(os.Environ(), envFake+"=starts-an-environment", envFakeLock+"="+lock, "TMPDIR="+t.TempDir())
	parent.Stderr = os.Stderr
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if line != "started\n" {
		t.Fatalf("the test to kill says %q, %v", line, err)
	}
	f, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		t.Fatal("the control plane holds no lock: this test shows nothing")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	freed := make(chan error, 1)
	go func() { freed <- syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }()
	select {
	case err := <-freed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the control plane still runs")
	}
}

func TestStartInstallsDefinitions(t *testing.T) {
	if os.Getenv(envBinary) == "" {
		t.Skip("OPERON, the path of the operon command, is not set: make build, then export OPERON=<checkout>/bin/operon")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "crds.yaml"), []byte(twoCRDs), 0o600); err != nil {
		t.Fatal(err)
	}
	env := &Environment{CRDDirectoryPaths: []string{dir}, ErrorIfCRDPathMissing: true, Nodes: 2}
	start := time.Now()
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %s", time.Since(start))
	t.Cleanup(func() {
		start := time.Now()
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
		t.Logf("stopped in %s", time.Since(start))
	})
	server, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for _, path := range []string{"/api/v1/namespaces/default", "/apis/example.com/v1/frogs", "/apis/example.com/v1alpha1/toads"} {
		if err := server.RESTClient().Get().AbsPath(path).Do(ctx).Error(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	t.Run("nodes are there", func(t *testing.T) {
		raw, err := server.RESTClient().Get().AbsPath("/api/v1/nodes").SetHeader("Accept", "application/json").Do(ctx).Raw()
		if err != nil {
			t.Fatal(err)
		}
		var nodes corev1.NodeList
		if err := json.Unmarshal(raw, &nodes); err != nil || len(nodes.Items) != 2 {
			t.Errorf("%d nodes, %v", len(nodes.Items), err)
		}
	})
	t.Run("definitions are installed again over themselves", func(t *testing.T) {
		options := CRDInstallOptions{Paths: []string{dir}}
		crds, err := InstallCRDs(cfg, options)
		if err != nil || len(crds) != 2 {
			t.Fatalf("%d installed, %v", len(crds), err)
		}
		for _, crd := range crds {
			if crd.UID == "" || crd.ResourceVersion == "" || crd.Kind != "CustomResourceDefinition" {
				t.Errorf("%s of uid %q at resourceVersion %q was returned as %q", crd.Name, crd.UID, crd.ResourceVersion, crd.Kind)
			}
		}
		if err := UninstallCRDs(cfg, options); err != nil {
			t.Error(err)
		}
		if _, err := InstallCRDs(cfg, CRDInstallOptions{CRDs: crds}); err != nil {
			t.Errorf("right after they were removed: %v", err)
		}
	})
	t.Run("a definition is waited for by plural and group", func(t *testing.T) {
		crds, err := InstallCRDs(cfg, CRDInstallOptions{Paths: []string{dir}})
		if err != nil {
			t.Fatal(err)
		}
		nameless := &apiextensionsv1.CustomResourceDefinition{Spec: crds[0].Spec}
		if err := WaitForCRDs(cfg, []*apiextensionsv1.CustomResourceDefinition{nameless}, CRDInstallOptions{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("a definition the server refuses is named", func(t *testing.T) {
		crds, err := readCRDs(filepath.Join(dir, "crds.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		bad := crds[0]
		bad.Spec.Names.Plural = "wrong"
		_, err = InstallCRDs(cfg, CRDInstallOptions{CRDs: crds[:1]})
		if err == nil || !strings.Contains(err.Error(), "CustomResourceDefinition frogs.example.com") {
			t.Errorf("error = %v", err)
		}
	})
}
