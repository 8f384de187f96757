package webhook_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/builder"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest"
	"github.com/operon-dev/operon/pkg/internal/testing/gizmo"
	"github.com/operon-dev/operon/pkg/manager"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"
	"github.com/operon-dev/operon/pkg/webhook"
)

// warnings are what the API server had to say.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := w.texts
	w.texts = nil
	return texts
}

// gizmos is a control plane that knows gizmos, and asks a manager's webhooks about them.
func gizmos(t *testing.T) (cfg *rest.Config, certDir string, scheme *runtime.Scheme) {
	t.Helper()
	if os.Getenv("OPERON") == "" {
		t.Skip("OPERON does not name the operon binary, which starts the API server")
	}
	scheme = runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), gizmo.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	var (
		fail  = admissionregistrationv1.Fail
		none  = admissionregistrationv1.SideEffectClassNone
		rules = []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{gizmo.Group}, APIVersions: []string{"v2"}, Resources: []string{"gizmos"}},
		}}
		at = func(path string) admissionregistrationv1.WebhookClientConfig {
			return admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "gizmos", Path: &path}}
		}
	)
	env := &envtest.Environment{
		CRDInstallOptions: envtest.CRDInstallOptions{
			Scheme: scheme,
			CRDs:   []*apiextensionsv1.CustomResourceDefinition{gizmo.Definition("", nil)},
		},
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			MutatingWebhooks: []*admissionregistrationv1.MutatingWebhookConfiguration{{
				ObjectMeta: metav1.ObjectMeta{Name: "gizmos"},
				Webhooks: []admissionregistrationv1.MutatingWebhook{{
					Name: "default." + gizmo.Group, Rules: rules, FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
					ClientConfig: at("/mutate-gizmos-operon-test-v2-gizmo"),
				}},
			}},
			ValidatingWebhooks: []*admissionregistrationv1.ValidatingWebhookConfiguration{{
				ObjectMeta: metav1.ObjectMeta{Name: "gizmos"},
				Webhooks: []admissionregistrationv1.ValidatingWebhook{{
					Name: "validate." + gizmo.Group, Rules: rules, FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
					ClientConfig: at("/validate-gizmos-operon-test-v2-gizmo"),
				}},
			}},
		},
	}
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	local := env.WebhookInstallOptions
	mgr, err := manager.New(cfg, manager.Options{
		Scheme:  scheme,
		Logger:  testr.New(t),
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: local.LocalServingHost, Port: local.LocalServingPort, CertDir: local.LocalServingCertDir,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := builder.WebhookManagedBy(mgr, &gizmo.V2{}).WithDefaulter(gizmo.Defaulter{}).WithValidator(gizmo.Validator{}).Complete(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-mgr.Elected():
	case <-time.After(30 * time.Second):
		t.Fatal("the manager does not start")
	}
	if err := mgr.GetWebhookServer().StartedChecker()(nil); err != nil {
		t.Errorf("the caches were started before the webhooks were served: %v", err)
	}
	return cfg, local.LocalServingCertDir, scheme
}

func TestTheAPIServerHasObjectsDefaultedValidatedAndConverted(t *testing.T) {
	cfg, _, scheme := gizmos(t)
	said := &warnings{}
	cfg = rest.CopyConfig(cfg)
	cfg.WarningHandler = said
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }

	t.Run("defaulting keeps fields that the type does not know", func(t *testing.T) {
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": gizmo.Group + "/v2", "kind": "Gizmo", "metadata": map[string]any{"namespace": "default", "name": "grey"},
			"spec": map[string]any{"width": int64(3), "height": int64(4), "depth": int64(5)}, "extra": []any{"x"},
		}}
		if err := c.Create(ctx, u); err != nil {
			t.Fatal(err)
		}
		colour, _, _ := unstructured.NestedString(u.Object, "spec", "colour")
		depth, _, _ := unstructured.NestedInt64(u.Object, "spec", "depth")
		if extra, _, _ := unstructured.NestedStringSlice(u.Object, "extra"); colour != "grey" || depth != 5 || len(extra) != 1 {
			t.Errorf("stored %v", u.Object)
		}
	})
	t.Run("warnings arrive", func(t *testing.T) {
		said.take()
		if err := c.Create(ctx, &gizmo.V2{ObjectMeta: meta("pink"), Spec: gizmo.V2Spec{Colour: "pink"}}); err != nil {
			t.Fatal(err)
		}
		if texts := said.take(); len(texts) != 1 || texts[0] != "pink fades" {
			t.Errorf("warned %q", texts)
		}
	})
	t.Run("creation is denied", func(t *testing.T) {
		err := c.Create(ctx, &gizmo.V2{ObjectMeta: meta("flat"), Spec: gizmo.V2Spec{Width: 3}})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "a flat gizmo") {
			t.Error(err)
		}
	})
	t.Run("update and deletion are denied", func(t *testing.T) {
		gold := &gizmo.V2{ObjectMeta: meta("gold"), Spec: gizmo.V2Spec{Width: 3, Height: 4, Colour: "gold"}}
		if err := c.Create(ctx, gold); err != nil {
			t.Fatal(err)
		}
		gold.Spec.Height = 1
		if err := c.Update(ctx, gold); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "gizmos do not shrink") {
			t.Error(err)
		}
		if err := c.Delete(ctx, gold); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "gold is kept") {
			t.Error(err)
		}
	})
	t.Run("versions are converted", func(t *testing.T) {
		if err := c.Create(ctx, &gizmo.V1{ObjectMeta: meta("converted"), Spec: gizmo.V1Spec{Size: "7x8"}}); err != nil {
			t.Fatal(err)
		}
		var two gizmo.V2
		if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "converted"}, &two); err != nil {
			t.Fatal(err)
		}
		if two.Spec.Width != 7 || two.Spec.Height != 8 || two.Spec.Colour != "grey" {
			t.Errorf("as v2 %+v", two.Spec)
		}
		two.Spec.Height = 9
		if err := c.Update(ctx, &two); err != nil {
			t.Fatal(err)
		}
		var one gizmo.V1
		if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "converted"}, &one); err != nil || one.Spec.Size != "7x9" {
			t.Errorf("as v1 %+v, %v", one.Spec, err)
		}
		err := c.Create(ctx, &gizmo.V1{ObjectMeta: meta("odd"), Spec: gizmo.V1Spec{Size: "huge"}})
		if err == nil || !strings.Contains(err.Error(), `size "huge"`) {
			t.Errorf("a size that cannot be converted: %v", err)
		}
	})
}

func TestACertificateTheAPIServerDoesNotTrustFailsRequestsUntilItIsReplaced(t *testing.T) {
	cfg, certDir, scheme := gizmos(t)
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	create := func() error {
		return c.Create(t.Context(), &gizmo.V2{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "g-"}}, client.DryRunAll)
	}
	eventually(t, 10*time.Second, "a first admission", create)
	good := map[string][]byte{}
	for _, file := range []string{"tls.key", "tls.crt"} {
		content, err := os.ReadFile(certDir + "/" + file)
		if err != nil {
			t.Fatal(err)
		}
		good[file] = content
	}
	putCertificate(t, certDir)
	// The API server keeps its connection: only a new one sees the new certificate. A change of the configuration makes it.
	reconnect := func() {
		t.Helper()
		var vwc admissionregistrationv1.ValidatingWebhookConfiguration
		if err := c.Get(t.Context(), client.ObjectKey{Name: "gizmos"}, &vwc); err != nil {
			t.Fatal(err)
		}
		vwc.Webhooks[0].ClientConfig.CABundle = append(vwc.Webhooks[0].ClientConfig.CABundle, '\n')
		if err := c.Update(t.Context(), &vwc); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, 20*time.Second, "a failure", func() error {
		reconnect()
		if err := create(); err == nil {
			return errors.New("it still succeeds")
		} else if !strings.Contains(err.Error(), "certificate signed by unknown authority") {
			t.Fatal(err)
		}
		return nil
	})
	for file, content := range good {
		replace(t, certDir+"/"+file, content)
	}
	eventually(t, 20*time.Second, "the right certificate again", create)
}
