package builder

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/internal/testing/gizmo"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/webhook"
	"github.com/operon-dev/operon/pkg/webhook/admission"
	"github.com/operon-dev/operon/pkg/webhook/conversion"
)

// servingManager has a webhook server that is not started.
type servingManager struct {
	manager.Manager
	scheme   *runtime.Scheme
	server   webhook.Server
	registry conversion.Registry
}

func newServing(t *testing.T) *servingManager {
	t.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(gizmo.AddToScheme(s), corev1.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}
	return &servingManager{scheme: s, server: webhook.NewServer(webhook.Options{}), registry: conversion.NewRegistry()}
}

func (m *servingManager) GetScheme() *runtime.Scheme                { return m.scheme }
func (m *servingManager) GetWebhookServer() webhook.Server          { return m.server }
func (m *servingManager) GetConverterRegistry() conversion.Registry { return m.registry }

// ask posts to a path and returns the answer.
func (m *servingManager) ask(path, body string) string {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	m.server.WebhookMux().ServeHTTP(w, r)
	return w.Body.String()
}

// served tells which of the paths have a handler.
func (m *servingManager) served(paths ...string) []string {
	var served []string
	for _, path := range paths {
		if !strings.HasPrefix(m.ask(path, ""), "404") {
			served = append(served, path)
		}
	}
	return served
}

const (
	mutateGizmo   = "/mutate-gizmos-operon-test-v2-gizmo"
	validateGizmo = "/validate-gizmos-operon-test-v2-gizmo"
)

// anything is a defaulter and validator of objects of any type.
type anything struct{}

func (anything) Default(context.Context, runtime.Object) error { return errors.New("any default") }
func (anything) ValidateCreate(context.Context, runtime.Object) (admission.Warnings, error) {
	return nil, errors.New("any creation")
}
func (anything) ValidateUpdate(context.Context, runtime.Object, runtime.Object) (admission.Warnings, error) {
	return nil, nil
}
func (anything) ValidateDelete(context.Context, runtime.Object) (admission.Warnings, error) {
	return nil, nil
}

func TestWebhooksAreServedWhereTheyAreExpected(t *testing.T) {
	all := []string{mutateGizmo, validateGizmo, "/convert", "/m", "/v", "/mutate--v1-pod", "/validate-other-io-v1-thing"}
	thing := &unstructured.Unstructured{}
	thing.SetGroupVersionKind(schema.GroupVersionKind{Group: "other.io", Version: "v1", Kind: "Thing"})
	for name, tt := range map[string]struct {
		complete func(m manager.Manager) error
		want     []string
	}{
		"a kind that is convertible": {func(m manager.Manager) error {
			return WebhookManagedBy(m, &gizmo.V2{}).WithDefaulter(gizmo.Defaulter{}).WithValidator(gizmo.Validator{}).Complete()
		}, []string{mutateGizmo, validateGizmo, "/convert"}},
		"nothing but conversion": {func(m manager.Manager) error { return WebhookManagedBy(m, &gizmo.V1{}).Complete() }, []string{"/convert"}},
		"paths of one's own": {func(m manager.Manager) error {
			return WebhookManagedBy(m, &gizmo.V2{}).
				WithDefaulter(gizmo.Defaulter{}).WithDefaulterCustomPath("/m").
				WithValidator(gizmo.Validator{}).WithValidatorCustomPath("/v").Complete()
		}, []string{"/convert", "/m", "/v"}},
		"the core group": {func(m manager.Manager) error {
			return WebhookManagedBy(m, &corev1.Pod{}).WithCustomDefaulter(anything{}).Complete()
		}, []string{"/mutate--v1-pod"}},
		"a kind without a Go type": {func(m manager.Manager) error {
			return WebhookManagedBy(m, thing).WithCustomValidator(anything{}).Complete()
		}, []string{"/validate-other-io-v1-thing"}},
		"the same twice": {func(m manager.Manager) error {
			one := func() error { return WebhookManagedBy(m, &gizmo.V2{}).WithValidator(gizmo.Validator{}).Complete() }
			return errors.Join(one(), one())
		}, []string{validateGizmo, "/convert"}},
		"nothing": {func(m manager.Manager) error { return WebhookManagedBy(m, &corev1.Pod{}).Complete() }, nil},
	} {
		m := newServing(t)
		if err := tt.complete(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, m.served(all...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWebhooksDecideAsTheyWereBuilt(t *testing.T) {
	const (
		flat  = `{"request":{"uid":"u","operation":"CREATE","object":{"spec":{"width":3}}}}`
		empty = `{"request":{"uid":"u","operation":"CREATE","object":{}}}`
	)
	m := newServing(t)
	var logged []string
	err := WebhookManagedBy(m, &gizmo.V2{}).WithDefaulter(gizmo.Defaulter{}).WithValidator(gizmo.Validator{}).
		WithLogConstructor(func(base logr.Logger, req *admission.Request) logr.Logger {
			if req != nil {
				logged = append(logged, string(req.UID))
			}
			return base
		}).
		WithContextFunc(func(ctx context.Context, _ *http.Request) context.Context {
			logged = append(logged, "context")
			return ctx
		}).Complete()
	if err != nil {
		t.Fatal(err)
	}
	if got := m.ask(validateGizmo, flat); !strings.Contains(got, `"message":"a flat gizmo","reason":"Forbidden","code":403`) {
		t.Errorf("a flat gizmo: %s", got)
	}
	if got := m.ask(mutateGizmo, empty); !strings.Contains(got, `"patchType":"JSONPatch"`) {
		t.Errorf("an empty gizmo: %s", got)
	}
	if joined := strings.Join(logged, ","); !strings.Contains(joined, "u,context") {
		t.Errorf("the log constructor and the context function saw %s", joined)
	}

	m = newServing(t)
	if err := WebhookManagedBy(m, &gizmo.V2{}).WithCustomDefaulter(anything{}).WithCustomValidator(anything{}).Complete(); err != nil {
		t.Fatal(err)
	}
	if got := m.ask(validateGizmo, flat); !strings.Contains(got, "any creation") {
		t.Errorf("a validator of anything: %s", got)
	}
	if got := m.ask(mutateGizmo, flat); !strings.Contains(got, "any default") {
		t.Errorf("a defaulter of anything: %s", got)
	}
}

func TestCompleteSaysWhatIsWrong(t *testing.T) {
	var none *gizmo.V2
	converter := func(*runtime.Scheme) (conversion.Converter, error) { return nil, errors.New("no converter") }
	for name, tt := range map[string]struct {
		complete func(m manager.Manager) error
		want     string
	}{
		"no object":    {func(m manager.Manager) error { return WebhookManagedBy[runtime.Object](m, nil).Complete() }, "webhook without an object"},
		"a nil object": {func(m manager.Manager) error { return WebhookManagedBy(m, none).Complete() }, "webhook with a nil *"},
		"an odd path": {func(m manager.Manager) error {
			return WebhookManagedBy(m, &gizmo.V2{}).WithDefaulter(gizmo.Defaulter{}).WithDefaulterCustomPath("odd path").Complete()
		}, `customPath "odd path" does not match this regex`},
		"two defaulters": {func(m manager.Manager) error {
			return WebhookManagedBy(m, &gizmo.V2{}).WithDefaulter(gizmo.Defaulter{}).WithCustomDefaulter(anything{}).Complete()
		}, "both a Defaulter and a CustomDefaulter"},
		"two validators": {func(m manager.Manager) error {
			return WebhookManagedBy(m, &gizmo.V2{}).WithValidator(gizmo.Validator{}).WithCustomValidator(anything{}).Complete()
		}, "both a Validator and a CustomValidator"},
		"one path for two": {func(m manager.Manager) error {
			return WebhookManagedBy(m, &gizmo.V2{}).WithDefaulter(gizmo.Defaulter{}).WithDefaulterCustomPath("/x").WithValidator(gizmo.Validator{}).WithValidatorCustomPath("/x").Complete()
		}, "have the same path, /x"},
		"a converter that cannot be made": {func(m manager.Manager) error {
			return WebhookManagedBy(m, &gizmo.V2{}).WithConverter(converter).Complete()
		}, "no converter"},
		"a kind without a hub": {func(m manager.Manager) error {
			m.GetScheme().AddKnownTypeWithName(gizmo.GroupKind.WithVersion("v3"), &corev1.Pod{})
			return WebhookManagedBy(m, &gizmo.V2{}).Complete()
		}, "1 versions of " + gizmo.GroupKind.String() + " are neither the hub nor"},
	} {
		if err := tt.complete(newServing(t)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
