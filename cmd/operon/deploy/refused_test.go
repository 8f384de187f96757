package deploy

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfigOf writes a kubeconfig for a server.
func kubeconfigOf(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: server}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {Token: "expired"}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConnectSaysWhatIsWrongWithACluster(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	answer := func(code int, reason string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"` + reason + `","message":"` + reason + `"}`))
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	impostor := httptest.NewTLSServer(nil)
	impostor.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(impostor.Close)
	for _, tt := range []struct{ name, server, want string }{
		{"somebody else's certificate", impostor.URL, "is not the cluster that the kubeconfig knows"},
		{"nobody listens", "http://" + nobody, "cluster at http://" + nobody + " does not answer"},
		{"unknown user", answer(http.StatusUnauthorized, "Unauthorized"), "log in again"},
		// Whoever may not see the version may still deploy.
		{"forbidden", answer(http.StatusForbidden, "Forbidden"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Connect(t.Context(), kubeconfigOf(t, tt.server), "")
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Connect: %v, want %q", err, tt.want)
			}
		})
	}
}

func TestAFileThatIsMissingFromAKustomizationIsNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources:\n- bases/things.yaml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Render(dir)
	want := dir + " does not build: " + filepath.Join(dir, "bases/things.yaml") + ": file does not exist; operon generate writes it"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Render: %v, want %s", err, want)
	}
}

func TestAKubeconfigThatIsNoneHasAWayOut(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("clusters: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, file, context, want string }{
		{"malformed", broken, "", "mend it"},
		{"missing", broken + "er", "", "name one that can be read with --kubeconfig"},
		{"unknown context", kubeconfigOf(t, "http://127.0.0.1:1"), "nobody", "lists those that do"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Connect(t.Context(), tt.file, tt.context); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Connect: %v, want %q", err, tt.want)
			}
		})
	}
}

func TestAReportOfAFailureDoesNotSayThatThereWasNothingToDo(t *testing.T) {
	for failed, want := range map[bool]string{false: "nothing to do\n", true: ""} {
		var out strings.Builder
		if err := NewReporter(&out, io.Discard, false).Close(failed); err != nil || out.String() != want {
			t.Errorf("failed %t: %q, %v; want %q", failed, &out, err, want)
		}
	}
}
