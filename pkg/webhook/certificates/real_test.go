package certificates_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/testr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/internal/testing/gizmo"
	"github.com/operon-dev/operon/pkg/webhook/certificates"
)

var secretName = types.NamespacedName{Namespace: "default", Name: "gizmo-certificates"}

// startKeeper runs a Keeper alone, and waits until it has put everything in place.
func startKeeper(t *testing.T, cfg *rest.Config, options certificates.Options) *certificates.Keeper {
	t.Helper()
	k, err := certificates.New(cfg, nil, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(logr.NewContext(context.Background(), testr.New(t)))
	ended := make(chan error, 1)
	go func() { ended <- k.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-k.Started():
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing is in place after 30 s")
	}
	return k
}

func served(t *testing.T, k *certificates.Keeper) *tls.Certificate {
	t.Helper()
	cert, err := k.GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// viaService is a validating configuration that leads to a Service.
func viaService(name string, service admissionregistrationv1.ServiceReference) *admissionregistrationv1.ValidatingWebhookConfiguration {
	none := admissionregistrationv1.SideEffectClassNone
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validate." + gizmo.Group, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &service},
		}},
	}
}

func TestTheBundleGoesWhereItBelongsAndNowhereElse(t *testing.T) {
	cfg := controlPlane(t)
	c, err := client.New(cfg, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	ours := admissionregistrationv1.ServiceReference{Namespace: "default", Name: "gizmo-webhooks"}
	managed := viaService("for-cert-manager", ours)
	managed.Annotations = map[string]string{"cert-manager.io/inject-ca-from": "default/gizmo"}
	for _, obj := range []client.Object{
		gizmo.Definition("https://webhooks.example.com:9443/convert", nil),
		viaService("ours", ours),
		viaService("anothers", admissionregistrationv1.ServiceReference{Namespace: "default", Name: "other-webhooks"}),
		managed,
	} {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	startKeeper(t, cfg, certificates.Options{
		Service: types.NamespacedName{Namespace: "default", Name: "gizmo-webhooks"},
		Hosts:   []string{"webhooks.example.com:9443"},
		Secret:  secretName,
	})
	var secret corev1.Secret
	if err := c.Get(t.Context(), secretName, &secret); err != nil {
		t.Fatal(err)
	}
	bundleOf := func(name string) []byte {
		t.Helper()
		var vwc admissionregistrationv1.ValidatingWebhookConfiguration
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &vwc); err != nil {
			t.Fatal(err)
		}
		return vwc.Webhooks[0].ClientConfig.CABundle
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := c.Get(t.Context(), client.ObjectKey{Name: "gizmos." + gizmo.Group}, &crd); err != nil {
		t.Fatal(err)
	}
	want := secret.Data["ca.crt"]
	if len(want) == 0 || !bytes.Equal(bundleOf("ours"), want) || !bytes.Equal(crd.Spec.Conversion.Webhook.ClientConfig.CABundle, want) {
		t.Error("the bundle is not in the configurations that lead here")
	}
	if len(bundleOf("anothers")) > 0 || len(bundleOf("for-cert-manager")) > 0 {
		t.Error("the bundle is in configurations that are none of ours")
	}

	// Somebody applies the manifest again, which has no bundle; and another one arrives.
	bare := viaService("ours", ours)
	if err := c.Get(t.Context(), client.ObjectKey{Name: "ours"}, bare); err != nil {
		t.Fatal(err)
	}
	bare.Webhooks[0].ClientConfig.CABundle = nil
	if err := errors.Join(c.Update(t.Context(), bare), c.Create(t.Context(), viaService("late", ours))); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the bundle is put back", func() error {
		if !bytes.Equal(bundleOf("ours"), want) || !bytes.Equal(bundleOf("late"), want) {
			return errors.New("it is not there")
		}
		return nil
	})
}

func TestALostSecretIsMadeAnewWithoutAGap(t *testing.T) {
	cfg := controlPlane(t)
	c, err := client.New(cfg, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	options := certificates.Options{Hosts: []string{"127.0.0.1:9443"}, Secret: secretName, Propagation: time.Second}
	if err := c.Create(t.Context(), gizmo.Definition("https://127.0.0.1:9443/convert", nil)); err != nil {
		t.Fatal(err)
	}
	one, two := startKeeper(t, cfg, options), startKeeper(t, cfg, options)
	first := served(t, one)
	if !served(t, two).Leaf.Equal(first.Leaf) {
		t.Fatal("two replicas serve different certificates")
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secretName.Namespace, Name: secretName.Name}}
	if err := c.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "another certificate", func() error {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := c.Get(t.Context(), client.ObjectKey{Name: "gizmos." + gizmo.Group}, &crd); err != nil {
			return err
		}
		for name, k := range map[string]*certificates.Keeper{"one": one, "two": two} {
			cert := served(t, k)
			if err := verify(cert, crd.Spec.Conversion.Webhook.ClientConfig.CABundle); err != nil {
				t.Fatalf("%s serves what is not trusted: %v", name, err)
			}
			if cert.Leaf.Issuer.CommonName == first.Leaf.Issuer.CommonName {
				return fmt.Errorf("%s still serves the first", name)
			}
		}
		if !served(t, one).Leaf.Equal(served(t, two).Leaf) {
			return errors.New("two replicas serve different certificates")
		}
		return nil
	})
}

func TestAResourceThatMayNotBeListedHoldsNothingUp(t *testing.T) {
	cfg := controlPlane(t)
	c, err := client.New(cfg, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	const user = "replica"
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	for _, obj := range []client.Object{
		viaService("ours", admissionregistrationv1.ServiceReference{Namespace: "default", Name: "gizmo-webhooks"}),
		&rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: user},
			Rules:      []rbacv1.PolicyRule{rule("", "secrets", "get", "list", "watch", "create", "update")},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: user}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		},
		// Nothing about mutating webhooks and conversions.
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: user},
			Rules:      []rbacv1.PolicyRule{rule("admissionregistration.k8s.io", "validatingwebhookconfigurations", "list", "watch", "patch")},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		},
	} {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	as := rest.CopyConfig(cfg)
	as.Impersonate = rest.ImpersonationConfig{UserName: user}
	startKeeper(t, as, certificates.Options{
		Service: types.NamespacedName{Namespace: "default", Name: "gizmo-webhooks"}, Secret: secretName,
	})
	var vwc admissionregistrationv1.ValidatingWebhookConfiguration
	if err := c.Get(t.Context(), client.ObjectKey{Name: "ours"}, &vwc); err != nil || len(vwc.Webhooks[0].ClientConfig.CABundle) == 0 {
		t.Errorf("no bundle where it may be put: %v", err)
	}
}

// refusing answers the patches of one object with Forbidden, as an API server does whose rules or policies are against them.
type refusing struct {
	http.RoundTripper
	name    string
	refused atomic.Int64
}

func (r *refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodPatch || path.Base(req.URL.Path) != r.name {
		return r.RoundTripper.RoundTrip(req)
	}
	r.refused.Add(1)
	if req.Body != nil {
		_ = req.Body.Close()
	}
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)),
	}, nil
}

func TestAConfigurationThatMayNotBePatchedHoldsNeitherTheStartNorARenewalUp(t *testing.T) {
	cfg := controlPlane(t)
	c, err := client.New(cfg, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	ours := admissionregistrationv1.ServiceReference{Namespace: "default", Name: "gizmo-webhooks"}
	if err := errors.Join(c.Create(t.Context(), viaService("locked", ours)), c.Create(t.Context(), viaService("open", ours))); err != nil {
		t.Fatal(err)
	}
	refusal := &refusing{name: "locked"}
	limited := rest.CopyConfig(cfg)
	limited.Wrap(func(next http.RoundTripper) http.RoundTripper {
		refusal.RoundTripper = next
		return refusal
	})
	k := startKeeper(t, limited, certificates.Options{
		Service: types.NamespacedName{Namespace: "default", Name: "gizmo-webhooks"}, Secret: secretName, Validity: 6 * time.Second,
	})
	first := served(t, k)
	eventually(t, time.Minute, "a renewed certificate", func() error {
		if served(t, k).Leaf.Equal(first.Leaf) {
			return errors.New("it is still the first")
		}
		return nil
	})
	var open admissionregistrationv1.ValidatingWebhookConfiguration
	if err := c.Get(t.Context(), client.ObjectKey{Name: "open"}, &open); err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(open.Webhooks[0].ClientConfig.CABundle)
	renewed := served(t, k).Leaf
	if _, err := renewed.Verify(x509.VerifyOptions{Roots: authorities, CurrentTime: renewed.NotAfter.Add(-time.Second)}); err != nil {
		t.Errorf("the renewed certificate is not trusted: %v", err)
	}
	if refusal.refused.Load() == 0 {
		t.Error("nothing was refused: the test shows nothing")
	}
}
