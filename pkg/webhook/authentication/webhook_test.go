package authentication_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/webhook/authentication"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// checker knows one token.
var checker = &authentication.Webhook{Handler: authentication.HandlerFunc(func(_ context.Context, req authentication.Request) authentication.Response {
	switch req.Spec.Token {
	case "good":
		return authentication.Authenticated("", authenticationv1.UserInfo{Username: "eve"})
	case "echo":
		return authentication.Response(req)
	case "broken":
		return authentication.Errored(errors.New("database is down"))
	case "panics":
		panic("oh no")
	}
	return authentication.Unauthenticated("unknown token", authenticationv1.UserInfo{})
})}

func post(body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	checker.ServeHTTP(w, r)
	return w
}

func token(t string) string {
	return `{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","metadata":{"uid":"u"},"spec":{"token":"` + t + `"}}`
}

func TestTokensAreReviewed(t *testing.T) {
	const kind = `"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1",`
	const beta = `"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1beta1",`
	for _, tt := range []struct{ name, body, want string }{
		{"known", token("good"), `{` + kind + `"metadata":{"uid":"u"},"spec":{},"status":{"authenticated":true,"user":{"username":"eve"}}}`},
		{"unknown", token("other"), `{` + kind + `"metadata":{"uid":"u"},"spec":{},"status":{"user":{},"error":"unknown token"}}`},
		{"not to be checked", token("broken"), `{` + kind + `"metadata":{"uid":"u"},"spec":{},"status":{"user":{},"error":"database is down"}}`},
		{"that makes the handler panic", token("panics"), `{` + kind + `"metadata":{"uid":"u"},"spec":{},"status":{"user":{},"error":"internal error: the handler panicked, see the webhook's log"}}`},
		{"that comes back", token("echo"), `{` + kind + `"metadata":{"uid":"u"},"spec":{},"status":{"user":{}}}`},
		{"in another version", strings.Replace(token("good"), "/v1", "/v1beta1", 1), `{` + beta + `"metadata":{"uid":"u"},"spec":{},"status":{"authenticated":true,"user":{"username":"eve"}}}`},
		{"in no version", `{"spec":{"token":"good"}}`, `{` + kind + `"metadata":{},"spec":{},"status":{"authenticated":true,"user":{"username":"eve"}}}`},
		{"missing", token(""), `{"metadata":{},"spec":{},"status":{"user":{},"error":"the TokenReview holds no token"}}`},
		{"in half a document", `{`, `{"metadata":{},"spec":{},"status":{"user":{},"error":"couldn't get version/kind; json parse error: unexpected end of JSON input"}}`},
		{"in nothing", ``, `{"metadata":{},"spec":{},"status":{"user":{},"error":"the request has no body"}}`},
		{"in too much", strings.Repeat(" ", 1<<20), `{"metadata":{},"spec":{},"status":{"user":{},"error":"the request is too large: its body must be shorter than 1048576 bytes"}}`},
	} {
		w := post(tt.body)
		if got := strings.TrimSpace(w.Body.String()); got != tt.want || w.Code != http.StatusOK {
			t.Errorf("a token %s: %d %s\nwant %s", tt.name, w.Code, got, tt.want)
		}
	}
	w := post("{}", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
	if !strings.Contains(w.Body.String(), `the content type is \"text/plain\", must be application/json`) {
		t.Errorf("another content type: %s", w.Body)
	}
	w = post("{}", func(r *http.Request) { r.Body = nil })
	if !strings.Contains(w.Body.String(), "the request has no body") {
		t.Errorf("no body at all: %s", w.Body)
	}
}

func TestTokensAreNeverLogged(t *testing.T) {
	var mu sync.Mutex
	var lines strings.Builder
	log.SetLogger(funcr.New(func(prefix, args string) {
		mu.Lock()
		defer mu.Unlock()
		lines.WriteString(prefix + args + "\n")
	}, funcr.Options{Verbosity: 10}))
	for _, body := range []string{token("s3cret"), `{"spec":{"token":"s3cret"}}`} {
		post(body)
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(lines.String(), "s3cret") || !strings.Contains(lines.String(), "Request received") {
		t.Errorf("logged\n%s", lines.String())
	}
}

func FuzzServeHTTPAlwaysAnswers(f *testing.F) {
	f.Add([]byte(token("good")))
	f.Add([]byte(`{"spec":{"token":1}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		w := post(string(body))
		var review authenticationv1.TokenReview
		if err := json.Unmarshal(w.Body.Bytes(), &review); err != nil || w.Code != http.StatusOK || review.Spec.Token != "" {
			t.Fatalf("answered %d %s (%v)", w.Code, w.Body, err)
		}
	})
}
