package client_test

import (
	"net/url"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/operon-dev/operon/pkg/client"
)

var scaleKind = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// writes calls every writing method of c once, and returns what each sent.
func writes(t *testing.T, s *server, c client.Client) map[string]request {
	t.Helper()
	out := map[string]request{}
	for name, do := range map[string]func() error{
		"create":        func() error { return c.Create(t.Context(), widget()) },
		"update":        func() error { return c.Update(t.Context(), widget()) },
		"patch":         func() error { return c.Patch(t.Context(), widget(), client.Merge) },
		"apply":         func() error { return c.Apply(t.Context(), corev1ac.ConfigMap("w", "n")) },
		"delete":        func() error { return c.Delete(t.Context(), widget()) },
		"delete all":    func() error { return c.DeleteAllOf(t.Context(), widget(), client.InNamespace("n")) },
		"status create": func() error { return c.Status().Create(t.Context(), widget(), widget()) },
		"status update": func() error { return c.Status().Update(t.Context(), widget()) },
		"status patch":  func() error { return c.Status().Patch(t.Context(), widget(), client.Merge) },
		"status apply":  func() error { return c.Status().Apply(t.Context(), corev1ac.ConfigMap("w", "n")) },
	} {
		must(t, name, do())
		out[name] = s.one(t)
	}
	return out
}

func TestADryRunClientNeverWrites(t *testing.T) {
	s := answering(t, `{"apiVersion":"v1","kind":"Status","status":"Success"}`)
	yes := true
	for name, c := range map[string]client.Client{
		"wrapped": client.NewDryRunClient(s.client(t, client.Options{})),
		"option":  s.client(t, client.Options{DryRun: &yes}),
	} {
		for write, got := range writes(t, s, c) {
			if got.Query.Get("dryRun") != "All" && !strings.Contains(got.Body, `"dryRun":["All"]`) {
				t.Errorf("%s: %s was sent as %+v", name, write, got)
			}
		}
		must(t, "update", c.Update(t.Context(), widget(), &client.UpdateOptions{DryRun: []string{}}))
		if got := s.one(t); got.Query.Get("dryRun") != "All" {
			t.Errorf("%s: an option made a dry-run client write", name)
		}
	}
}

func TestDefaultsOfAClientGiveWayToTheCall(t *testing.T) {
	s := answering(t, `{"apiVersion":"v1","kind":"Status","status":"Success"}`)
	for name, c := range map[string]client.Client{
		"wrapped": client.WithFieldValidation(client.WithFieldOwner(s.client(t, client.Options{}), "me"), "Strict"),
		"option":  s.client(t, client.Options{FieldOwner: "me", FieldValidation: "Strict"}),
	} {
		for write, got := range writes(t, s, c) {
			want := url.Values{"fieldManager": {"me"}, "fieldValidation": {"Strict"}}
			if strings.Contains(write, "apply") {
				want.Del("fieldValidation")
			}
			if strings.Contains(write, "delete") {
				want = url.Values{}
			}
			if got.Query.Encode() != want.Encode() {
				t.Errorf("%s: %s was sent with %s, want %s", name, write, got.Query.Encode(), want.Encode())
			}
		}
		must(t, "update", c.Update(t.Context(), widget(), client.FieldOwner("you"), client.FieldValidation("Ignore")))
		if got := s.one(t).Query.Encode(); got != "fieldManager=you&fieldValidation=Ignore" {
			t.Errorf("%s: sent with %s", name, got)
		}
	}
}

func TestANamespacedClientStaysInItsNamespace(t *testing.T) {
	s := answering(t, `{"apiVersion":"v1","kind":"Status","status":"Success"}`)
	c := client.NewNamespacedClient(s.client(t, client.Options{}), "here")
	ctx := t.Context()
	at := func(ns string) *Widget {
		w := widget()
		w.Namespace = ns
		return w
	}
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(widgetKind)
	there.SetNamespace("there")
	there.SetName("w")
	nowhere := there.DeepCopy()
	nowhere.SetNamespace("")

	for name, do := range map[string]func(ns string) error{
		"get":    func(ns string) error { return c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "w"}, &Widget{}) },
		"create": func(ns string) error { return c.Create(ctx, at(ns)) },
		"update": func(ns string) error { return c.Update(ctx, at(ns)) },
		"patch":  func(ns string) error { return c.Patch(ctx, at(ns), client.Merge) },
		"delete": func(ns string) error { return c.Delete(ctx, at(ns)) },
		"apply": func(ns string) error {
			config := corev1ac.ConfigMap("w", ns)
			if ns == "" {
				config.Namespace = nil
			}
			return c.Apply(ctx, config)
		},
		"apply unstructured": func(ns string) error {
			if ns == "" {
				return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(nowhere.DeepCopy()))
			}
			return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(there))
		},
		"status get":    func(ns string) error { return c.SubResource("status").Get(ctx, at(ns), &Widget{}) },
		"status create": func(ns string) error { return c.Status().Create(ctx, at(ns), &autoscalingv1.Scale{}) },
		"status update": func(ns string) error { return c.Status().Update(ctx, at(ns)) },
		"status patch":  func(ns string) error { return c.Status().Patch(ctx, at(ns), client.Merge) },
		"status apply":  func(ns string) error { return c.Status().Apply(ctx, corev1ac.ConfigMap("w", ns)) },
	} {
		if name != "status apply" {
			must(t, name, do(""))
			if got := s.one(t); !strings.Contains(got.Path, "/namespaces/here/") {
				t.Errorf("%s was sent to %s", name, got.Path)
			}
		}
		if err := do("there"); err == nil || !strings.Contains(err.Error(), `namespace "there" does not match the namespace "here"`) {
			t.Errorf("%s of another namespace: %v", name, err)
		}
		if sent := s.sent(); len(sent) != 0 {
			t.Errorf("%s of another namespace was sent to %s", name, sent[0].Path)
		}
	}
	must(t, "list", c.List(ctx, &WidgetList{}, client.InNamespace("there")))
	must(t, "delete all", c.DeleteAllOf(ctx, &Widget{}))
	for _, got := range s.sent() {
		if got.Path != "/apis/example.com/v1/namespaces/here/widgets" {
			t.Errorf("%s was sent to %s", got.Method, got.Path)
		}
	}
	must(t, "get node", c.Get(ctx, client.ObjectKey{Name: "w"}, &corev1.Node{}))
	must(t, "list nodes", c.List(ctx, &corev1.NodeList{}))
	for _, got := range s.sent() {
		if strings.Contains(got.Path, "namespaces") {
			t.Errorf("a cluster-scoped kind was sent to %s", got.Path)
		}
	}
}

func TestANamespacedClientWithoutANamespaceListsWhereItIsTold(t *testing.T) {
	s := answering(t, `{"apiVersion":"v1","kind":"Status","status":"Success"}`)
	c := client.NewNamespacedClient(s.client(t, client.Options{}), "")
	must(t, "list", c.List(t.Context(), &WidgetList{}, client.InNamespace("there")))
	if got := s.one(t).Path; got != "/apis/example.com/v1/namespaces/there/widgets" {
		t.Errorf("the list was asked of %s", got)
	}
}
