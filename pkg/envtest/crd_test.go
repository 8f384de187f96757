package envtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// TestMaxTimeIsForWaitingOnly asks for no waiting at all: what is written must arrive all the same, as a server under load
// needs longer for a hundred definitions than anybody would wait for one.
func TestMaxTimeIsForWaitingOnly(t *testing.T) {
	var mu sync.Mutex
	written := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		mu.Lock()
		written[r.URL.Path]++
		mu.Unlock()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		w.WriteHeader(http.StatusCreated)
		if _, err := w.Write(body); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}

	crds := []*apiextensionsv1.CustomResourceDefinition{
		{ObjectMeta: metav1.ObjectMeta{Name: "as.example.com"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "bs.example.com"}},
	}
	if _, err := createCRDs(config, CRDInstallOptions{CRDs: crds, MaxTime: time.Nanosecond}); err != nil {
		t.Error(err)
	}
	webhooks := WebhookInstallOptions{
		LocalServingHost: "127.0.0.1", LocalServingPort: 1, LocalServingCertDir: t.TempDir(), MaxTime: time.Nanosecond,
		MutatingWebhooks: []*admissionregistrationv1.MutatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "m"}}},
	}
	if err := webhooks.Install(config); err == nil {
		t.Error("a configuration that nobody serves was waited for, and found")
	}
	mu.Lock()
	defer mu.Unlock()
	for path, want := range map[string]int{
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions":             2,
		"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": 1,
	} {
		if written[path] != want {
			t.Errorf("%d requests to %s, want %d", written[path], path, want)
		}
	}
}
