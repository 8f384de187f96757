package controlplane

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operon-dev/operon/pkg/internal/testing/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWhatNeedsProgramsOfTheirOwn(t *testing.T) {
	nowhere(t)
	address, err := url.Parse("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	for want, plane := range map[string]*ControlPlane{
		"":                                {APIServer: &APIServer{SecureServing: SecureServing{ListenAddr: process.ListenAddr{Address: "localhost", Port: "7"}}}, Etcd: &Etcd{}},
		"Etcd":                            {Etcd: &Etcd{DataDir: "/d"}},
		"APIServer.Path":                  {APIServer: &APIServer{Path: "/p"}},
		"APIServer.EtcdURL":               {APIServer: &APIServer{EtcdURL: address}},
		"APIServer.CertDir":               {APIServer: &APIServer{CertDir: "/c"}},
		"APIServer.SecureServing.Authn":   {APIServer: &APIServer{SecureServing: SecureServing{Authn: &CertAuthn{}}}},
		"APIServer.SecureServing.Address": {APIServer: &APIServer{SecureServing: SecureServing{ListenAddr: process.ListenAddr{Address: "0.0.0.0"}}}},
	} {
		if got := plane.onlyApart(); got != want {
			t.Errorf("%q instead of %q", got, want)
		}
	}
	plane := &ControlPlane{}
	plane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.1.0.0/16")
	if got := plane.onlyApart(); !strings.Contains(got, "service-cluster-ip-range") {
		t.Errorf("a flag that the operon command decides: %q", got)
	}
}

func TestFlagsThatAreNotPassedAreEmptied(t *testing.T) {
	s := &APIServer{}
	s.Configure().Disable("disable-admission-plugins").Disable("anything")
	want := []string{"--nodes=0", "--api-only=true", "--kube-apiserver-arg=disable-admission-plugins="}
	if diff := cmp.Diff(want, (Options{}).arguments(s)); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNotStartedSaysSo(t *testing.T) {
	plane := &ControlPlane{}
	if err := plane.Stop(); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{"Mark": plane.Mark(t.Context()), "Reset": plane.Reset(t.Context())} {
		if !errors.Is(err, ErrNotStarted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	u, err := plane.AddUser(User{Name: "jane"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a user of nothing has a configuration")
		}
	}()
	u.Config()
}

func TestAnAPIServerNeedsAStoreAndTLS(t *testing.T) {
	if err := (&APIServer{}).Start(); err == nil || !strings.Contains(err.Error(), "EtcdURL") {
		t.Errorf("without a store: %v", err)
	}
	address, err := url.Parse("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := (&APIServer{EtcdURL: address, InsecureServing: &process.ListenAddr{}}).Start(); !errors.Is(err, errInsecure) {
		t.Errorf("without TLS: %v", err)
	}
}

func TestKubeConfigIsWhatTheConfigIs(t *testing.T) {
	want := &rest.Config{Host: "https://127.0.0.1:6443", Impersonate: rest.ImpersonationConfig{UserName: "jane", Groups: []string{"dev"}}, TLSClientConfig: rest.TLSClientConfig{
		CAData: []byte("authority"), CertData: []byte("certificate"), KeyData: []byte("key"),
	}}
	given := rest.CopyConfig(want)
	given.Host += "/" // which a kubeconfig does without
	content, err := KubeConfigFromREST(given)
	if err != nil {
		t.Fatal(err)
	}
	got, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{want.Host, want.TLSClientConfig, "jane", []string{"dev"}}, []any{got.Host, got.TLSClientConfig, got.Impersonate.UserName, got.Impersonate.Groups}); diff != "" {
		t.Error(diff)
	}
}

func TestScratchOfTheKilledIsSwept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	abandoned := filepath.Join(os.TempDir(), scratchPrefix+"abandoned")
	if err := os.MkdirAll(filepath.Join(abandoned, "etcd"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(abandoned, scratchLock), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var first, second scratch
	mine, err := first.path()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(abandoned); err == nil {
		t.Error("what nobody uses is still there")
	}
	if _, err := second.path(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("what is in use was swept: %v", err)
	}
	if err := errors.Join(first.remove(), second.remove()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestKubectlSaysWhatWentWrong(t *testing.T) {
	k := &KubeCtl{Path: "/bin/sh", Opts: []string{"-c", "echo out; echo no such thing >&2; exit 1"}}
	out, errs, err := k.Run("get")
	if err == nil || !strings.Contains(err.Error(), "kubectl get") || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("error = %v", err)
	}
	if out == nil || errs == nil {
		t.Error("what it wrote is lost")
	}
}
