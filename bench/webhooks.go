package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/bench/served"
	"github.com/operon-dev/operon/pkg/webhook"
	"github.com/operon-dev/operon/pkg/webhook/admission"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	peerwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
	peeradmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	validatePath = "/validate"
	defaultPath  = "/default"
	// admissionClients ask at once, over connections that stay, as API servers do.
	admissionClients = 8
)

// webhookRows measures a validator and a defaulter of Pods with type parameters: what the handlers take for a review that
// is in memory, and what a whole request takes over TLS, client included.
func webhookRows(ctx context.Context, env *environment) (rows []report.Row, err error) {
	review, err := podReview()
	if err != nil {
		return nil, err
	}
	const each = 50
	var contenders []contender
	handlers := []map[string]http.Handler{ourWebhooks(), peerWebhooks()}
	for _, path := range []string{validatePath, defaultPath} {
		for _, h := range handlers {
			contenders = append(contenders, repeat(each, func() error { return reviewInMemory(h[path], path, review) }))
		}
	}
	for i, serve := range []func(context.Context, int, *tls.Config, map[string]http.Handler) *started{serveOurs, servePeers} {
		s, err := newAdmissionServer(ctx, handlers[i], serve)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.stop()) }()
		for _, path := range []string{validatePath, defaultPath} {
			contenders = append(contenders, repeatAtOnce(4*each, admissionClients, func() error { return s.review(ctx, path, review) }))
		}
	}
	for _, c := range contenders { // connections and pools are made
		if _, err := c(); err != nil {
			return nil, err
		}
	}
	p := env.plan(9, 3)
	costs, err := interleave(p, contenders...)
	if err != nil {
		return nil, err
	}
	alone := fmt.Sprintf("the handler alone, for an AdmissionReview of %d bytes", len(review))
	throughServer := fmt.Sprintf("%d clients over HTTP/2 with TLS, in the same process", admissionClients)
	for i, work := range []struct{ name, peer string }{{"Validate a Pod", "WithValidator"}, {"Default a Pod", "WithDefaulter"}} {
		ours, peer := costs[2*i], costs[2*i+1]
		oursServed, peerServed := costs[4+i], costs[6+i]
		rows = append(rows,
			report.Row{Name: work.name + ", handler", Unit: report.Nanoseconds, Ours: times(ours), Peer: times(peer), PeerName: work.peer, Note: alone},
			report.Row{Name: work.name + ", handler", Unit: report.Allocations, Ours: allocs(ours), Peer: allocs(peer), PeerName: work.peer, Note: alone},
			report.Row{Name: work.name + ", served", Unit: report.PerSecond, Ours: rates(oursServed), Peer: rates(peerServed), PeerName: work.peer + ", webhook server", Note: throughServer},
		)
	}
	return p.of(rows...), nil
}

// podReview is what an API server sends when a Pod is created.
func podReview() ([]byte, error) {
	pod := served.Pod(0)
	pod.ManagedFields = nil
	pod.Labels = map[string]string{"app.kubernetes.io/name": "shop"}
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	raw, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	kind := metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}
	resource := metav1.GroupVersionResource{Version: "v1", Resource: "pods"}
	return json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "5b1e1a52-0f5c-4c0e-8f3e-6a1a7e2f9d10", Kind: kind, Resource: resource, RequestKind: &kind, RequestResource: &resource,
			Name: pod.Name, Namespace: pod.Namespace, Operation: admissionv1.Create,
			UserInfo: authenticationv1.UserInfo{Username: "system:serviceaccount:kube-system:replicaset-controller", Groups: []string{"system:serviceaccounts", "system:authenticated"}},
			Object:   runtime.RawExtension{Raw: raw},
			Options:  runtime.RawExtension{Raw: []byte(`{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}`)},
		},
	})
}

// checkPod and defaultPod are the webhooks' own work, the same for both libraries.
func checkPod(pod *corev1.Pod) error {
	for _, c := range pod.Spec.Containers {
		if c.Image == "" {
			return fmt.Errorf("container %s has no image", c.Name)
		}
	}
	return nil
}

func defaultPod(pod *corev1.Pod) error {
	pod.Labels["example.com/team"] = "shop"
	if pod.Spec.PriorityClassName == "" {
		pod.Spec.PriorityClassName = "standard"
	}
	return nil
}

type ourPodWebhook struct{}

func (ourPodWebhook) ValidateCreate(_ context.Context, pod *corev1.Pod) (admission.Warnings, error) {
	return nil, checkPod(pod)
}

func (ourPodWebhook) ValidateUpdate(_ context.Context, _, pod *corev1.Pod) (admission.Warnings, error) {
	return nil, checkPod(pod)
}

func (ourPodWebhook) ValidateDelete(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func (ourPodWebhook) Default(_ context.Context, pod *corev1.Pod) error { return defaultPod(pod) }

func ourWebhooks() map[string]http.Handler {
	return map[string]http.Handler{
		validatePath: admission.WithValidator(scheme.Scheme, ourPodWebhook{}),
		defaultPath:  admission.WithDefaulter(scheme.Scheme, ourPodWebhook{}),
	}
}

type peerPodWebhook struct{}

func (peerPodWebhook) ValidateCreate(_ context.Context, pod *corev1.Pod) (peeradmission.Warnings, error) {
	return nil, checkPod(pod)
}

func (peerPodWebhook) ValidateUpdate(_ context.Context, _, pod *corev1.Pod) (peeradmission.Warnings, error) {
	return nil, checkPod(pod)
}

func (peerPodWebhook) ValidateDelete(context.Context, *corev1.Pod) (peeradmission.Warnings, error) {
	return nil, nil
}

func (peerPodWebhook) Default(_ context.Context, pod *corev1.Pod) error { return defaultPod(pod) }

func peerWebhooks() map[string]http.Handler {
	return map[string]http.Handler{
		validatePath: peeradmission.WithValidator(scheme.Scheme, peerPodWebhook{}),
		defaultPath:  peeradmission.WithDefaulter(scheme.Scheme, peerPodWebhook{}),
	}
}

func serveOurs(ctx context.Context, port int, config *tls.Config, handlers map[string]http.Handler) *started {
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.GetCertificate = config.GetCertificate }}})
	for path, handler := range handlers {
		server.Register(path, handler)
	}
	return start(ctx, server.Start)
}

func servePeers(ctx context.Context, port int, config *tls.Config, handlers map[string]http.Handler) *started {
	server := peerwebhook.NewServer(peerwebhook.Options{Host: "127.0.0.1", Port: port, TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.GetCertificate = config.GetCertificate }}})
	for path, handler := range handlers {
		server.Register(path, handler)
	}
	return start(ctx, server.Start)
}

// reviewInMemory has a handler answer without a network.
func reviewInMemory(handler http.Handler, path string, review []byte) error {
	request, err := http.NewRequest(http.MethodPost, "https://127.0.0.1"+path, bytes.NewReader(review))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	var answer memoryResponse
	handler.ServeHTTP(&answer, request)
	return allowed(answer.body.Bytes())
}

// memoryResponse is a ResponseWriter that keeps what is written.
type memoryResponse struct {
	header http.Header
	body   bytes.Buffer
}

func (m *memoryResponse) Header() http.Header {
	if m.header == nil {
		m.header = http.Header{}
	}
	return m.header
}

func (m *memoryResponse) Write(p []byte) (int, error) { return m.body.Write(p) }
func (m *memoryResponse) WriteHeader(int)             {}

// allowed looks for the verdict in an answer without decoding it, which would be measured too.
func allowed(answer []byte) error {
	if !bytes.Contains(answer, []byte(`"allowed":true`)) {
		return fmt.Errorf("not admitted: %s", answer)
	}
	return nil
}
