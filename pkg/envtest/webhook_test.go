//go:build unix

package envtest

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionreviewv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/conversion"
)

const webhookFiles = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: no-config-maps}
webhooks:
- name: validate.example.com
  clientConfig: {service: {name: webhook, namespace: system, path: /validate}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: v1
kind: Service
metadata: {name: webhook}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mutate}
webhooks:
- name: mutate.example.com
  clientConfig: {url: "https://example.com/mutate"}
  rules: []
  sideEffects: None
  admissionReviewVersions: [v1]
`

func TestWebhooksArePointedAtThisMachine(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	write(t, dir, "manifests.yaml", webhookFiles)
	o := WebhookInstallOptions{Paths: []string{dir}, LocalServingHostExternalName: "host.example"}
	for range 2 {
		if err := o.PrepWithoutInstalling(); err != nil {
			t.Fatal(err)
		}
	}
	if len(o.ValidatingWebhooks) != 1 || len(o.MutatingWebhooks) != 1 {
		t.Fatalf("%d and %d configurations", len(o.ValidatingWebhooks), len(o.MutatingWebhooks))
	}
	validating := o.ValidatingWebhooks[0].Webhooks[0].ClientConfig
	if want := o.url("/validate"); validating.URL == nil || *validating.URL != want || validating.Service != nil || !strings.HasPrefix(want, "https://host.example:") {
		t.Errorf("client configuration = %v, want %s", validating, want)
	}
	if mutating := o.MutatingWebhooks[0].Webhooks[0].ClientConfig; *mutating.URL != "https://example.com/mutate" || len(mutating.CABundle) == 0 {
		t.Errorf("client configuration = %v", mutating)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(o.LocalServingCertDir, "tls.crt"), filepath.Join(o.LocalServingCertDir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(o.LocalServingCAData) {
		t.Fatal("no certificate in LocalServingCAData")
	}
	for _, name := range []string{o.LocalServingHost, "localhost", "host.example"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: roots}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := o.Cleanup(); err != nil {
		t.Error(err)
	}
	if left := leftovers(t); len(left) > 0 || o.LocalServingCAData != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestWebhookPathsAreChecked(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	o := WebhookInstallOptions{Paths: []string{absent}}
	if err := o.PrepWithoutInstalling(); !os.IsNotExist(err) && (err == nil || !strings.Contains(err.Error(), absent)) {
		t.Errorf("error = %v", err)
	}
	o = WebhookInstallOptions{Paths: []string{absent}, IgnoreErrorIfPathMissing: true}
	if err := o.PrepWithoutInstalling(); err != nil {
		t.Error(err)
	}
	if err := o.Cleanup(); err != nil {
		t.Error(err)
	}
	bad := write(t, t.TempDir(), "bad.yaml", "apiVersion: admissionregistration.k8s.io/v1beta1\nkind: ValidatingWebhookConfiguration\n")
	o = WebhookInstallOptions{Paths: []string{bad}}
	if err := o.PrepWithoutInstalling(); err == nil || !strings.Contains(err.Error(), bad) || !strings.Contains(err.Error(), "v1beta1") {
		t.Errorf("error = %v", err)
	}
}

// A hub and a spoke of kind Frog.
type (
	hubFrog   struct{ unstructured.Unstructured }
	spokeFrog struct{ unstructured.Unstructured }
)

func (*hubFrog) Hub()                               {}
func (*spokeFrog) ConvertTo(conversion.Hub) error   { return nil }
func (*spokeFrog) ConvertFrom(conversion.Hub) error { return nil }

func TestConversionIsPointedHereWhereItIsDoneHere(t *testing.T) {
	frogs := runtime.NewScheme()
	frogs.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Frog"}, &hubFrog{})
	frogs.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1alpha1", Kind: "Frog"}, &spokeFrog{})
	path := "/elsewhere"
	byService := &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ConversionReviewVersions: []string{"v1", "v2"},
		ClientConfig:             &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Name: "s", Namespace: "n", Path: &path}},
	}}
	for name, tc := range map[string]struct {
		scheme  *runtime.Scheme
		given   *apiextensionsv1.CustomResourceConversion
		options WebhookInstallOptions
		// want is the path of the URL; empty where the conversion is left as it is.
		want     string
		versions []string
	}{
		"a hub and a spoke":              {scheme: frogs, want: "/convert", versions: []string{"v1"}},
		"a hub, a spoke and a webhook":   {scheme: frogs, given: byService, want: "/elsewhere", versions: []string{"v1", "v2"}},
		"an unknown kind":                {},
		"an unknown kind and a webhook":  {given: byService},
		"any webhook, when asked for":    {given: byService, options: WebhookInstallOptions{IgnoreSchemeConvertible: true}, want: "/elsewhere", versions: []string{"v1", "v2"}},
		"no webhook, when asked for all": {options: WebhookInstallOptions{IgnoreSchemeConvertible: true}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.options.LocalServingHost, tc.options.LocalServingPort, tc.options.LocalServingCAData = "127.0.0.1", 4443, []byte("a certificate")
			crd := &apiextensionsv1.CustomResourceDefinition{}
			crd.Spec.Group, crd.Spec.Names.Kind, crd.Spec.Conversion = "example.com", "Frog", tc.given
			before := crd.DeepCopy()
			got, err := convertHere([]*apiextensionsv1.CustomResourceDefinition{crd}, CRDInstallOptions{Scheme: tc.scheme, WebhookOptions: tc.options})
			if err != nil {
				t.Fatal(err)
			}
			want := before.Spec.Conversion
			if tc.want != "" {
				address := "https://127.0.0.1:4443" + tc.want
				want = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
					ConversionReviewVersions: tc.versions,
					ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &address, CABundle: []byte("a certificate")},
				}}
			}
			if diff := cmp.Diff(want, got[0].Spec.Conversion); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, crd); diff != "" {
				t.Errorf("the caller's object was changed: %s", diff)
			}
		})
	}
}

const convertedCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: newts.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Newt, listKind: NewtList, plural: newts, singular: newt}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: s, namespace: n, path: /convert}}}}
  versions:
  - {name: v1, served: true, storage: true, schema: &any {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

func TestWebhooksOfATestAreAsked(t *testing.T) {
	needsOperon(t)
	ctx := t.Context()
	dir := t.TempDir()
	write(t, dir, "webhooks.yaml", webhookFiles)
	write(t, dir, "crd.yaml", convertedCRD)
	env := &Environment{
		CRDDirectoryPaths:     []string{dir},
		WebhookInstallOptions: WebhookInstallOptions{Paths: []string{dir}, IgnoreSchemeConvertible: true},
	}
	_, client := begin(t, env)
	o := env.WebhookInstallOptions
	serve(t, o)

	awaitNil(t, func() error {
		// The API server needs a moment to know of the configuration.
		_, err := client.CoreV1().ConfigMaps("default").Create(ctx, configMap("bad"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "the test says no") {
			return nil
		}
		return apierrors.NewInternalError(err)
	})

	rest := client.Discovery().RESTClient()
	if err := rest.Post().AbsPath("/apis/example.com/v1/newts").SetHeader("Content-Type", "application/json").
		Body([]byte(`{"apiVersion":"example.com/v1","kind":"Newt","metadata":{"name":"n"}}`)).Do(ctx).Error(); err != nil {
		t.Fatal(err)
	}
	raw, err := rest.Get().AbsPath("/apis/example.com/v2/newts/n").SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil || !strings.Contains(string(raw), `"converted":"here"`) {
		t.Errorf("%s, %v", raw, err)
	}
}

// serve is a webhook server that refuses everything and converts by changing the version.
func serve(t *testing.T, o WebhookInstallOptions) {
	t.Helper()
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, review any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}
	mux.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		var review admissionreviewv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
			return
		}
		review.Response = &admissionreviewv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "the test says no"}}
		review.Request = nil
		answer(w, review)
	})
	mux.HandleFunc("/convert", func(w http.ResponseWriter, r *http.Request) {
		var review apiextensionsv1.ConversionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
			return
		}
		review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, given := range review.Request.Objects {
			obj := &unstructured.Unstructured{}
			if err := obj.UnmarshalJSON(given.Raw); err != nil {
				t.Error(err)
				return
			}
			obj.SetAPIVersion(review.Request.DesiredAPIVersion)
			obj.Object["converted"] = "here"
			review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: obj})
		}
		review.Request = nil
		answer(w, review)
	})
	pair, err := tls.LoadX509KeyPair(filepath.Join(o.LocalServingCertDir, "tls.crt"), filepath.Join(o.LocalServingCertDir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", net.JoinHostPort(o.LocalServingHost, strconv.Itoa(o.LocalServingPort)), &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(mux)
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
}
