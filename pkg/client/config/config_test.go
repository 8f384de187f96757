package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfig writes a file whose contexts "first" and "second" are two servers named after name; first is current.
func kubeconfig(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	content := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: first
clusters:
- {name: a, cluster: {server: "https://first.%[1]s"}}
- {name: b, cluster: {server: "https://second.%[1]s"}}
contexts:
- {name: first, context: {cluster: a, user: u}}
- {name: second, context: {cluster: b, user: u}}
users:
- {name: u, user: {token: t}}
`, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func setFlag(t *testing.T, path string) {
	t.Helper()
	f := flag.Lookup(KubeconfigFlagName)
	if f == nil {
		t.Fatal("importing the package did not register the flag")
	}
	if err := f.Value.Set(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set("") })
}

func TestTheFirstSourceThatIsThereIsUsed(t *testing.T) {
	dir := t.TempDir()
	fromFlag, fromEnv := kubeconfig(t, dir, "flag"), kubeconfig(t, dir, "env")
	home := filepath.Join(dir, "home")
	if err := os.Rename(kubeconfig(t, dir, "home.kube"), kubeconfigIn(t, home)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		flag, env, home, context string
		want                     string // the server, or a part of the error
	}{
		"flag":               {fromFlag, fromEnv, home, "", "https://first.flag"},
		"environment":        {"", fromEnv, home, "", "https://first.env"},
		"several files":      {"", filepath.Join(dir, "missing") + string(filepath.ListSeparator) + fromEnv, home, "", "https://first.env"},
		"context":            {fromFlag, "", home, "second", "https://second.flag"},
		"unknown context":    {fromFlag, "", home, "third", "--kubeconfig " + fromFlag},
		"flag names nothing": {filepath.Join(dir, "missing"), fromEnv, home, "", "--kubeconfig " + filepath.Join(dir, "missing")},
		"home":               {"", "", home, "", "https://first.home.kube"},
		"nothing at all":     {"", "", filepath.Join(dir, "nobody"), "", "neither --kubeconfig nor KUBECONFIG"},
		"nothing":            {"", filepath.Join(dir, "missing"), filepath.Join(dir, "nobody"), "", "KUBECONFIG"},
	} {
		t.Run(name, func(t *testing.T) {
			setFlag(t, test.flag)
			t.Setenv("KUBECONFIG", test.env)
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			homeIs(t, test.home)
			cfg, err := GetConfigWithContext(test.context)
			switch {
			case strings.HasPrefix(test.want, "https://"):
				if err != nil || cfg.Host != test.want {
					t.Errorf("got %v, %v", cfg, err)
				} else if cfg.QPS != -1 {
					t.Errorf("client-side rate limiting is on: %v per second", cfg.QPS)
				}
			case err == nil || !strings.Contains(err.Error(), test.want):
				t.Errorf("got the error %v, want one that names %s", err, test.want)
			}
		})
	}
}

// homeIs makes home the directory that client-go took for the user's when the process started.
func homeIs(t *testing.T, home string) {
	before := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = filepath.Join(home, ".kube", "config")
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = before })
}

func kubeconfigIn(t *testing.T, home string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, ".kube", "config")
}

func TestAPodWithoutItsTokenIsPassedOver(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	if _, err := os.Stat("/var/run/secrets/kubernetes.io/serviceaccount/token"); err == nil {
		t.Skip("runs in a pod")
	}
	home := t.TempDir()
	homeIs(t, home)
	if _, err := GetConfig(); err == nil || !strings.Contains(err.Error(), "config from the pod") {
		t.Errorf("got %v, want an error that says what is wrong with the pod", err)
	}
	if err := os.Rename(kubeconfig(t, home, "kube"), kubeconfigIn(t, home)); err != nil {
		t.Fatal(err)
	}
	if cfg, err := GetConfig(); err != nil || cfg.Host != "https://first.kube" {
		t.Errorf("got %v, %v", cfg, err)
	}
}

func TestFlagSetsKeepTheFlagTheyHave(t *testing.T) {
	path := kubeconfig(t, t.TempDir(), "mine")
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	mine := fs.String(KubeconfigFlagName, "", "")
	RegisterFlags(fs)
	RegisterFlags(fs)
	if err := fs.Parse([]string{"--kubeconfig", path}); err != nil {
		t.Fatal(err)
	}
	if *mine != path {
		t.Errorf("the flag was taken over")
	}
	if got := kubeconfigFlag(); got != path {
		t.Errorf("the kubeconfig is %q, want %q", got, path)
	}
	if err := fs.Set(KubeconfigFlagName, ""); err != nil {
		t.Fatal(err)
	}
	RegisterFlags(nil)
}
