package manager

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/healthz"
	"github.com/operon-dev/operon/pkg/webhook"
	"github.com/operon-dev/operon/pkg/webhook/certificates"
)

// slowServer is a webhook server that takes its time to start, and notes what happens.
type slowServer struct {
	diary *diary
	ready atomic.Bool
	fails bool
}

func (*slowServer) NeedLeaderElection() bool      { return false }
func (*slowServer) Register(string, http.Handler) {}
func (*slowServer) WebhookMux() *http.ServeMux    { return http.NewServeMux() }
func (s *slowServer) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !s.ready.Load() {
			return errors.New("not yet")
		}
		return nil
	}
}

func (s *slowServer) Start(ctx context.Context) error {
	s.diary.note("start webhooks")
	if s.fails {
		return errBroken
	}
	time.Sleep(time.Second)
	s.diary.note("webhooks are served")
	s.ready.Store(true)
	<-ctx.Done()
	s.diary.note("end webhooks")
	return nil
}

// A server of the user's own may be no more than a name for one, as in a test.
func TestAWebhookServerIsNotAskedAboutLeaders(t *testing.T) {
	server := struct{ webhook.Server }{}
	m := offline(t, func(o *Options) { o.WebhookServer = server })
	if got := m.GetWebhookServer(); got != webhook.Server(server) {
		t.Errorf("GetWebhookServer = %v", got)
	}
}

func TestWebhooksAreServedBeforeCachesStartAndUntilTheyHaveEnded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := &diary{}
		server := &slowServer{diary: d}
		filled := make(chan struct{})
		close(filled)
		m := offline(t, func(o *Options) { o.WebhookServer = server })
		if first, again := m.GetWebhookServer(), m.GetWebhookServer(); first != webhook.Server(server) || again != first {
			t.Error("another server than the one of the options")
		}
		mustAdd(t, m, &slowCache{diary: d, filled: filled}, everywhere{&noting{name: "other", diary: d}})
		stop := started(m)
		<-m.Elected()
		synctest.Wait()
		if err := stop(); err != nil {
			t.Error(err)
		}
		got := slices.DeleteFunc(d.read(), func(entry string) bool {
			return !strings.Contains(entry, "webhooks") && !strings.Contains(entry, "cache")
		})
		at := func(entry string) int {
			i := slices.Index(got, entry)
			if i < 0 {
				t.Fatalf("there is no %q in %q", entry, got)
			}
			return i
		}
		if at("webhooks are served") > at("start caches") || at("end caches") > at("end webhooks") || strings.Count(strings.Join(got, ","), "start webhooks") != 1 {
			t.Errorf("in the order %q", got)
		}
	})
}

func TestAWebhookServerThatFailsEndsTheManager(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := offline(t, func(o *Options) { o.WebhookServer = &slowServer{diary: &diary{}, fails: true} })
		m.GetWebhookServer()
		if err := m.Start(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestAWebhookServerNobodyAsksForDoesNotRun(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := &diary{}
		m := offline(t, func(o *Options) { o.WebhookServer = &slowServer{diary: d} })
		stop := started(m)
		<-m.Elected()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := d.read(); len(got) > 0 {
			t.Errorf("it did: %q", got)
		}
	})
}

func TestWithoutAServerThereIsTheDefaultOne(t *testing.T) {
	m := offline(t)
	server, ok := m.GetWebhookServer().(*webhook.DefaultServer)
	if !ok || server.Options.Port != webhook.DefaultPort {
		t.Errorf("%T %+v", m.GetWebhookServer(), server)
	}
	if first, again := m.GetConverterRegistry(), m.GetConverterRegistry(); first == nil || again != first {
		t.Error("there is not one registry for converters")
	}
}

func TestCertificatesNeedAServerThatCanServeThem(t *testing.T) {
	certs := &certificates.Options{Service: types.NamespacedName{Namespace: "ns", Name: "svc"}}
	m := offline(t, func(o *Options) { o.WebhookCertificates = certs })
	if m.certificates == nil {
		t.Error("there is no keeper of certificates")
	}
	options := Options{WebhookServer: &slowServer{}, WebhookCertificates: certs}
	options.Metrics.BindAddress = "0"
	if _, err := New(m.GetConfig(), options); err == nil || !strings.Contains(err.Error(), "*manager.slowServer") {
		t.Errorf("a server of another kind: %v", err)
	}
	if _, err := New(m.GetConfig(), Options{Metrics: options.Metrics, WebhookCertificates: &certificates.Options{}}); err == nil {
		t.Error("options that say nothing were accepted")
	}
}
