package admission_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/webhook/admission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// thing is what the webhooks of these tests are about.
type thing struct {
	metav1.TypeMeta `json:",inline"`
	Name            string         `json:"name,omitempty"`
	Replicas        int64          `json:"replicas,omitempty"`
	Total           int            `json:"total,omitempty"`
	Always          string         `json:"always"`
	Parts           []part         `json:"parts,omitempty"`
	Inner           *inner         `json:"inner,omitempty"`
	Free            map[string]any `json:"free,omitempty"`
}

type part struct {
	Name  string `json:"name,omitempty"`
	Value int    `json:"value,omitempty"`
}

type inner struct {
	On bool `json:"on,omitempty"`
}

func (t *thing) DeepCopyObject() runtime.Object {
	c := *t
	return &c
}

var thingKind = schema.GroupVersionKind{Group: "things.operon.test", Version: "v1", Kind: "Thing"}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypeWithName(thingKind, &thing{})
	return s
}

// defaultFunc is a Defaulter.
type defaultFunc func(context.Context, *thing) error

func (f defaultFunc) Default(ctx context.Context, t *thing) error { return f(ctx, t) }

// judge is a Validator that notes what it was asked, and answers as the thing's name says.
type judge struct {
	asked func(ctx context.Context, what string)
}

func (j judge) answer(ctx context.Context, what string, t *thing) (admission.Warnings, error) {
	if j.asked != nil {
		j.asked(ctx, what)
	}
	switch t.Name {
	case "bad":
		return admission.Warnings{"careful"}, errors.New("it is bad")
	case "gone":
		return nil, apierrors.NewResourceExpired("it is gone")
	case "panics":
		panic("no")
	case "doubtful":
		return admission.Warnings{"one", "two"}, nil
	}
	return nil, nil
}

func (j judge) ValidateCreate(ctx context.Context, t *thing) (admission.Warnings, error) {
	return j.answer(ctx, "create "+t.Name, t)
}

func (j judge) ValidateUpdate(ctx context.Context, old, t *thing) (admission.Warnings, error) {
	return j.answer(ctx, "update "+old.Name+" to "+t.Name, t)
}

func (j judge) ValidateDelete(ctx context.Context, t *thing) (admission.Warnings, error) {
	return j.answer(ctx, "delete "+t.Name, t)
}

// logs is a logger and what was logged.
type logs struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (l *logs) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines.WriteString(prefix + " " + args + "\n")
	}, funcr.Options{Verbosity: 10})
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.String()
}

// post has a webhook answer a request with this body.
func post(h http.Handler, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func standalone(t *testing.T, hook *admission.Webhook) (http.Handler, *logs) {
	t.Helper()
	l := &logs{}
	h, err := admission.StandaloneWebhook(hook, admission.StandaloneOptions{Logger: l.logger()})
	if err != nil {
		t.Fatal(err)
	}
	return h, l
}

var allow = admission.HandlerFunc(func(context.Context, admission.Request) admission.Response { return admission.Allowed("") })

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

var errCut = errors.New("connection reset")

// cut is a body that breaks off.
type cut struct{ io.Reader }

func (c cut) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF {
		err = errCut
	}
	return n, err
}
