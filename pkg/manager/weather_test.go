package manager_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// weather lies between a manager and its API server.
type weather struct {
	*httptest.Server
	rule    atomic.Pointer[rule]
	through http.Handler // as if there were no weather
}

// rule answers a request in place of the API server, or says that it does not.
type rule func(http.ResponseWriter, *http.Request) (answered bool)

// weatherOver returns the API server of config behind weather that is fair until told otherwise.
func weatherOver(t *testing.T, config *rest.Config) (*weather, *rest.Config) {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	direct := rest.CopyConfig(config)
	direct.Dial = nil
	transport, err := rest.TransportFor(direct)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
		// What is cut off is cut off: there is nobody to answer to.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	w := &weather{through: proxy}
	w.fair()
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !(*w.rule.Load())(rw, r) {
			proxy.ServeHTTP(rw, r)
		}
	}))
	t.Cleanup(func() {
		w.CloseClientConnections()
		w.Close()
	})
	return w, &rest.Config{Host: w.URL, QPS: -1}
}

// turns makes the weather what the rule says.
func (w *weather) turns(r rule) { w.rule.Store(&r) }

func (w *weather) fair() {
	w.turns(func(http.ResponseWriter, *http.Request) bool { return false })
}

// loses makes the weather lose the answers to the requests that are chosen, after the API server has done what they ask for.
func (w *weather) loses(chosen func(*http.Request) bool) {
	w.turns(func(_ http.ResponseWriter, r *http.Request) bool {
		if !chosen(r) {
			return false
		}
		w.through.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

func isWrite(r *http.Request) bool { return r.Method != http.MethodGet }

func isWatch(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" }

// isList says whether a request asks for all objects of a kind, as a list or as a stream.
func isList(r *http.Request) bool {
	q := r.URL.Query()
	return q.Get("sendInitialEvents") == "true" || r.Method == http.MethodGet && q.Has("limit")
}

// answer is a Status as the API server makes it.
func answer(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// The client may have gone.
	_ = json.NewEncoder(w).Encode(status(code, reason, message))
}

func status(code int, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}
}
