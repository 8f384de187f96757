package devloop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-dev/operon/cmd/operon/deploy"
	"github.com/operon-dev/operon/pkg/client"
)

// limit bounds what a test waits for; nothing takes nearly as long.
const limit = 60 * time.Second

// transcript collects what is printed, for others to wait for.
type transcript struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

func (tr *transcript) Write(p []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	close(tr.changed)
	tr.changed = make(chan struct{})
	return tr.text.Write(p)
}

// String is what was printed since the last await.
func (tr *transcript) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.text.String()
}

// await returns when the text printed since the last await has want in it.
func (tr *transcript) await(t *testing.T, want string) {
	t.Helper()
	deadline := time.After(limit)
	for {
		tr.mu.Lock()
		text, changed := tr.text.String(), tr.changed
		if _, after, ok := strings.Cut(text, want); ok {
			tr.text.Reset()
			tr.text.WriteString(after)
			tr.mu.Unlock()
			return
		}
		tr.mu.Unlock()
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%q was not printed, but:\n%s", want, text)
		}
	}
}

// managerSource is a manager that says what it was given and ends when it is asked to.
func managerSource(version string) string {
	return `package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	fmt.Println("manager ` + version + `", os.Args[1:], os.Getenv("KUBECONFIG"), os.Getenv("ENABLE_WEBHOOKS"))
	if "` + version + `" == "crash" {
		os.Exit(3)
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	<-c
	fmt.Println("manager ` + version + ` ends")
}
`
}

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.loop.example.com}
spec:
  group: loop.example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// newProject writes a project whose manager is built from source.
func newProject(t *testing.T, source string) string {
	t.Helper()
	t.Setenv("GOWORK", "off")
	t.Setenv("ENABLE_WEBHOOKS", "")
	root := t.TempDir()
	write(t, root, "go.mod", "module example.com/p\n\ngo 1.26\n")
	write(t, root, "cmd/main.go", source)
	write(t, root, "config/crd/kustomization.yaml", "resources:\n- thing.yaml\n")
	write(t, root, "config/crd/thing.yaml", definition)
	write(t, root, "config/samples/kustomization.yaml", "resources:\n- thing.yaml\n")
	write(t, root, "config/samples/thing.yaml", "apiVersion: loop.example.com/v1\nkind: Thing\nmetadata: {name: sample}\nspec: {size: 1}\n")
	return root
}

// start runs a loop with a control plane of its own until the returned function is called.
func start(t *testing.T, root string) (out, said *transcript, stop func()) {
	t.Helper()
	operon := os.Getenv("OPERON")
	if operon == "" {
		t.Skip("OPERON does not name the operon binary: make test sets it")
	}
	before := goleak.IgnoreCurrent()
	out, said = newTranscript(), newTranscript()
	port, err := freePort() // the default one may be in use by another test of this kind
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{
			Root: root, Name: "p", Operon: operon, Package: "./cmd", Args: []string{"--argument", strconv.Itoa(port)}, Samples: true, WebhookPort: port,
			// Written anew each time, which is no reason for another cycle.
			Generate: func(_ context.Context, root string, stderr io.Writer) error {
				return os.WriteFile(filepath.Join(root, "cmd", "zz_generated.go"), []byte("package main\n"), 0o666)
			},
			Stdout: out, Stderr: said,
		})
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("the loop ended with %v", err)
				}
			case <-time.After(limit):
				t.Fatal("the loop does not end")
			}
			goleak.VerifyNone(t, before)
		})
	}
	t.Cleanup(stop)
	return out, said, stop
}

func TestSavedFilesAreFollowedAndMistakesKeepTheManagerRunning(t *testing.T) {
	root := newProject(t, managerSource("one"))
	t.Setenv("KUBECONFIG", "/somebody/elses/kubeconfig")
	out, said, stop := start(t, root)
	kubeconfig := filepath.Join(root, "bin", "run.kubeconfig")
	out.await(t, "] "+kubeconfig)
	said.await(t, "the manager runs")
	c, err := deploy.Connect(t.Context(), kubeconfig, "")
	if err != nil {
		t.Fatal(err)
	}
	sample := thing("sample")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(sample), sample); err != nil {
		t.Errorf("the sample: %v", err)
	}

	// What a person changes on the cluster stays until the sample itself changes.
	if err := unstructured.SetNestedField(sample.Object, int64(7), "spec", "size"); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(t.Context(), sample); err != nil {
		t.Fatal(err)
	}
	write(t, root, "cmd/main.go", managerSource("two"))
	said.await(t, "cmd/main.go has changed")
	out.await(t, "manager one ends")
	out.await(t, "manager two [--argument ")
	said.await(t, "the manager runs")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(sample), sample); err != nil {
		t.Fatal(err)
	}
	if size, _, _ := unstructured.NestedInt64(sample.Object, "spec", "size"); size != 7 {
		t.Errorf("the sample's size is %d again", size)
	}

	write(t, root, "cmd/broken.go", "package main\n\nvar x int = \"no number\"\n")
	said.await(t, "broken.go:3")
	said.await(t, "the project does not compile, and the previous manager keeps running; waiting for a change")
	if err := os.Remove(filepath.Join(root, "cmd/broken.go")); err != nil {
		t.Fatal(err)
	}
	said.await(t, "up to date")

	write(t, root, "cmd/tutorial.go", "package main\n\nimport _ \"sigs.k8s.io/controller-runtime\"\n")
	said.await(t, "operon migrate")
	if err := os.Remove(filepath.Join(root, "cmd/tutorial.go")); err != nil {
		t.Fatal(err)
	}
	said.await(t, "up to date")

	write(t, root, "config/samples/thing.yaml", "apiVersion: loop.example.com/v1\nkind: Thing\nmetadata: {name: sample}\nspec: {size: 2}\n")
	said.await(t, "configured  Thing default/sample")
	write(t, root, "config/crd/thing.yaml", "not: a definition\n")
	said.await(t, "config/crd does not build")
	write(t, root, "config/crd/thing.yaml", definition)
	said.await(t, "up to date")

	write(t, root, "cmd/main.go", managerSource("crash"))
	said.await(t, "the manager ended: exit status 3; waiting for a change")
	write(t, root, "cmd/main.go", managerSource("three"))
	out.await(t, "manager three")
	said.await(t, "the manager runs")

	stop()
	out.await(t, "manager three ends")
	if _, err := os.Stat(kubeconfig); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig of a control plane that has gone: %v", err)
	}
	if err := c.Get(context.Background(), client.ObjectKeyFromObject(sample), sample); err == nil {
		t.Error("the control plane still answers")
	}
}

// webhookSource is a manager whose webhook denies every config map.
const webhookSource = `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

func main() {
	http.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		json.NewDecoder(r.Body).Decode(&review)
		review["response"] = map[string]any{"uid": review["request"].(map[string]any)["uid"], "allowed": false, "status": map[string]any{"message": "not in this house"}}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(review)
	})
	dir := filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs")
	fmt.Println(http.ListenAndServeTLS("127.0.0.1:"+os.Args[2], filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), nil))
}
`

func TestWebhooksAreCalledOnThisMachine(t *testing.T) {
	root := newProject(t, webhookSource)
	write(t, root, "config/webhook/manifests.yaml", `---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating-webhook-configuration}
webhooks:
- name: v.loop.example.com
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: webhook-service, namespace: system, path: /validate}}
  failurePolicy: Fail
  sideEffects: None
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-public}}
`)
	_, said, _ := start(t, root)
	said.await(t, "the manager runs")
	c, err := deploy.Connect(t.Context(), filepath.Join(root, "bin", "run.kubeconfig"), "")
	if err != nil {
		t.Fatal(err)
	}
	config := &corev1.ConfigMap{}
	config.Namespace, config.Name = "kube-public", "refused"
	// The API server learns of a webhook a moment after it is registered.
	deadline := time.Now().Add(limit)
	for {
		err := c.Create(t.Context(), config.DeepCopy(), client.DryRunAll)
		if err != nil && strings.Contains(err.Error(), "not in this house") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the webhook was not asked: %v", err)
		}
	}
}
