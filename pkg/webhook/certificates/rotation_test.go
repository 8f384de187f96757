package certificates_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/testr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest"
	"github.com/operon-dev/operon/pkg/internal/testing/gizmo"
	"github.com/operon-dev/operon/pkg/manager"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"
	"github.com/operon-dev/operon/pkg/webhook"
	"github.com/operon-dev/operon/pkg/webhook/admission"
	"github.com/operon-dev/operon/pkg/webhook/certificates"
	"github.com/operon-dev/operon/pkg/webhook/conversion"
)

func controlPlane(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("OPERON") == "" {
		t.Skip("OPERON does not name the operon binary, which starts the API server")
	}
	env := &envtest.Environment{}
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cfg
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), apiextensionsv1.AddToScheme(s), gizmo.AddToScheme(s)); err != nil {
		t.Fatal(err)
	}
	return s
}

// service is what a Service is to replicas: one address that leads to each of them in turn.
type service struct {
	listener net.Listener
	turn     atomic.Uint64

	mu       sync.Mutex
	replicas []string
}

func newService(t *testing.T) *service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &service{listener: listener}
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { s.forward(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		connections.Wait()
	})
	return s
}

func (s *service) address() string { return s.listener.Addr().String() }

func (s *service) url(path string) *string {
	u := "https://" + s.address() + path
	return &u
}

func (s *service) add(replica string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas = append(s.replicas, replica)
}

func (s *service) forward(conn net.Conn) {
	defer conn.Close()
	s.mu.Lock()
	if len(s.replicas) == 0 {
		s.mu.Unlock()
		return
	}
	replica := s.replicas[int(s.turn.Add(1))%len(s.replicas)]
	s.mu.Unlock()
	other, err := net.Dial("tcp", replica)
	if err != nil {
		return
	}
	defer other.Close()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(conn, other)
		_ = conn.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(other, conn)
	_ = other.(*net.TCPConn).CloseWrite()
	back.Wait()
}

// freePort returns a port of this machine that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// eachAnew has every request come over a connection of its own, so that each
// one sees the certificate that is served at the time.
func eachAnew(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		h.ServeHTTP(w, r)
	})
}

// startReplica runs a manager that serves gizmos' webhooks, and waits until it does. stop ends it.
func startReplica(t *testing.T, name string, cfg *rest.Config, s *service, options certificates.Options) (stop func()) {
	t.Helper()
	port := freePort(t)
	mgr, err := manager.New(cfg, manager.Options{
		Scheme:  scheme(t),
		Logger:  testr.NewWithOptions(t, testr.Options{}).WithName(name),
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, TLSOpts: []func(*tls.Config){
			// In HTTP/2 the end of a connection after each request meets others on it, which Go's client sends again
			// after one second, two, four and eight: now and then that is more than an admission may take.
			func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} },
		}}),
		WebhookCertificates: &options,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := mgr.GetWebhookServer()
	server.Register("/mutate", eachAnew(admission.WithDefaulter(mgr.GetScheme(), gizmo.Defaulter{})))
	server.Register("/validate", eachAnew(admission.WithValidator(mgr.GetScheme(), gizmo.Validator{})))
	server.Register("/convert", eachAnew(conversion.NewWebhookHandler(mgr.GetScheme(), mgr.GetConverterRegistry())))
	ctx, cancel := context.WithCancel(logr.NewContext(context.Background(), mgr.GetLogger()))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	t.Cleanup(stop)
	select {
	case <-mgr.Elected():
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s does not start", name)
	}
	s.add("127.0.0.1:" + strconv.Itoa(port))
	return stop
}

// register makes the API server ask the webhooks behind s.
func register(t *testing.T, c client.Client, s *service) {
	t.Helper()
	var (
		fail  = admissionregistrationv1.Fail
		none  = admissionregistrationv1.SideEffectClassNone
		rules = []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{gizmo.Group}, APIVersions: []string{"v2"}, Resources: []string{"gizmos"}},
		}}
	)
	objects := []client.Object{
		gizmo.Definition(*s.url("/convert"), nil),
		&admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "gizmos"},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "default." + gizmo.Group, Rules: rules, FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
				ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: s.url("/mutate")},
			}},
		},
		&admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "gizmos"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "validate." + gizmo.Group, Rules: rules, FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
				ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: s.url("/validate")},
			}},
		},
	}
	for _, obj := range objects {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
}

// eventually tries until there is no error.
func eventually(t *testing.T, within time.Duration, what string, try func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %v", what, within, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// load creates gizmos without a pause, in both versions, so that each is defaulted, validated and converted.
type load struct {
	requests atomic.Int64
	failed   atomic.Int64
	slowest  atomic.Int64 // about: workers may overwrite each other's
	first    atomic.Pointer[error]
	workers  sync.WaitGroup
}

func startLoad(ctx context.Context, c client.Client, workers int) *load {
	l := &load{}
	for w := range workers {
		l.workers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				meta := metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("load-%d-%d", w, i)}
				var obj client.Object = &gizmo.V1{ObjectMeta: meta, Spec: gizmo.V1Spec{Size: "3x4"}}
				colour := func() string { return obj.(*gizmo.V1).Spec.Colour }
				if i%2 == 0 {
					obj = &gizmo.V2{ObjectMeta: meta, Spec: gizmo.V2Spec{Width: 3, Height: 4}}
					colour = func() string { return obj.(*gizmo.V2).Spec.Colour }
				}
				begun := time.Now()
				err := c.Create(ctx, obj, client.DryRunAll)
				if ctx.Err() != nil {
					return
				}
				took := time.Since(begun)
				l.slowest.Store(max(l.slowest.Load(), int64(took)))
				if err != nil {
					err = fmt.Errorf("after %v: %w", took, err)
				}
				if err == nil && colour() != "grey" {
					err = fmt.Errorf("%s was not defaulted: colour %q", obj.GetName(), colour())
				}
				l.requests.Add(1)
				if err != nil {
					l.failed.Add(1)
					l.first.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	return l
}

func issuer(secret *corev1.Secret) string {
	block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
	if block == nil {
		return ""
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ""
	}
	return cert.Issuer.CommonName
}

func TestRotationsUnderLoadFailNoAdmission(t *testing.T) {
	cfg := controlPlane(t)
	c, err := client.New(cfg, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	s := newService(t)
	register(t, c, s)
	options := certificates.Options{
		Hosts:  []string{s.address()},
		Secret: types.NamespacedName{Namespace: "default", Name: "gizmo-certificates"},
		// What is left of each when it is replaced is more than a busy machine needs for a renewal, and for the slowest request.
		CAValidity:  72 * time.Second, // replaced after 48 s
		Validity:    36 * time.Second, // renewed after 24 s
		Propagation: 9 * time.Second,
	}
	stopFirst := startReplica(t, "first", cfg, s, options)
	eventually(t, time.Minute, "a first admission", func() error {
		return c.Create(t.Context(), &gizmo.V1{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "first"}}, client.DryRunAll)
	})

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := startLoad(ctx, c, 4)
	startReplica(t, "second", cfg, s, options)

	authorities, leaves := map[string]bool{}, map[string]bool{}
	signed := func(n int) func() error {
		return func() error {
			var secret corev1.Secret
			if err := c.Get(ctx, options.Secret, &secret); err != nil {
				return err
			}
			authorities[issuer(&secret)] = true
			leaves[string(secret.Data[corev1.TLSCertKey])] = true
			if len(authorities) < n {
				return fmt.Errorf("%d so far", len(authorities))
			}
			return nil
		}
	}
	eventually(t, 3*time.Minute, "a second authority, when it is time", signed(2))
	lost := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: options.Secret.Namespace, Name: options.Secret.Name}}
	if err := c.Delete(ctx, lost); err != nil {
		t.Fatal(err)
	}
	eventually(t, 3*time.Minute, "a third authority, after the Secret was deleted", signed(3))
	time.Sleep(time.Second) // the last one is served for a while
	cancel()
	l.workers.Wait()
	if first := l.first.Load(); first != nil {
		t.Errorf("%d of %d admissions failed, the first with: %v", l.failed.Load(), l.requests.Load(), *first)
	}
	if n := l.requests.Load(); n < 50 {
		t.Errorf("only %d admissions were asked for", n)
	}
	t.Logf("%d admissions, %d failed, slowest %v, through %d authorities and %d serving certificates",
		l.requests.Load(), l.failed.Load(), time.Duration(l.slowest.Load()), len(authorities), len(leaves))
	stopFirst()
}

func verify(cert *tls.Certificate, bundle []byte) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(bundle)
	_, err := cert.Leaf.Verify(x509.VerifyOptions{Roots: pool})
	return err
}
