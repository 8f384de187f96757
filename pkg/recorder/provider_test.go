package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
)

var pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "1"}}

// sent is a request that arrived.
type sent struct {
	method, path string
	body         map[string]any
}

// apiServer takes events. handle may be nil.
func apiServer(t *testing.T, handle http.HandlerFunc) (*rest.Config, <-chan sent) {
	t.Helper()
	requests := make(chan sent, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if handle != nil {
			handle(w, req)
			return
		}
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		got := sent{method: req.Method, path: req.URL.Path}
		if err := json.Unmarshal(raw, &got.body); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(raw)
		requests <- got
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, requests
}

func running(t *testing.T, config *rest.Config, broadcaster record.EventBroadcaster) (p *APIProvider, stop func()) {
	t.Helper()
	p, err := NewProvider(config, Options{
		HTTPClient:  &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
		Scheme:      scheme.Scheme,
		Logger:      logr.Discard(),
		Broadcaster: broadcaster,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Start(ctx) }()
	return p, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func next(t *testing.T, requests <-chan sent) sent {
	t.Helper()
	select {
	case got := <-requests:
		return got
	case <-time.After(10 * time.Second):
		t.Fatal("no event arrived")
		return sent{}
	}
}

func TestCoreEventsAreSent(t *testing.T) {
	config, requests := apiServer(t, nil)
	p, stop := running(t, config, nil)
	defer stop()
	recorder := p.GetEventRecorderFor("frogs")
	for name, record := range map[string]func(){
		"Event":           func() { recorder.Event(pod, "Normal", "Jumped", "over 3") },
		"Eventf":          func() { recorder.Eventf(pod, "Warning", "Jumped", "over %d", 3) },
		"AnnotatedEventf": func() { recorder.AnnotatedEventf(pod, map[string]string{"a": "b"}, "Normal", "Leapt", "over %d", 3) },
	} {
		record()
		got := next(t, requests)
		if got.method != "POST" || got.path != "/api/v1/namespaces/default/events" {
			t.Errorf("%s: %s %s", name, got.method, got.path)
		}
		source, _ := got.body["source"].(map[string]any)
		if got.body["message"] != "over 3" || source["component"] != "frogs" {
			t.Errorf("%s: sent %v", name, got.body)
		}
	}
}

func TestNewerEventsAreSent(t *testing.T) {
	config, requests := apiServer(t, nil)
	p, stop := running(t, config, nil)
	defer stop()
	recorder := p.GetEventRecorder("example.com/frogs")
	recorder.Eventf(pod, nil, "Normal", "Jumped", "Jump", "over %d", 3)
	got := next(t, requests)
	if got.method != "POST" || got.path != "/apis/events.k8s.io/v1/namespaces/default/events" {
		t.Errorf("%s %s", got.method, got.path)
	}
	want := map[string]any{"note": "over 3", "action": "Jump", "reason": "Jumped", "type": "Normal", "reportingController": "example.com/frogs"}
	for key, value := range want {
		if diff := cmp.Diff(value, got.body[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	recorder.AnnotatedEventf(pod, nil, map[string]string{"a": "b"}, "Normal", "Leapt", "Jump", "high")
	metadata, _ := next(t, requests).body["metadata"].(map[string]any)
	if diff := cmp.Diff(map[string]any{"a": "b"}, metadata["annotations"]); diff != "" {
		t.Error(diff)
	}
}

func TestSimilarEventsAreCounted(t *testing.T) {
	config, requests := apiServer(t, nil)
	p, stop := running(t, config, nil)
	defer stop()
	recorder := p.GetEventRecorderFor("frogs")
	recorder.Event(pod, "Normal", "Jumped", "again")
	next(t, requests)
	recorder.Event(pod, "Normal", "Jumped", "again")
	if got := next(t, requests); got.method != "PATCH" || got.body["count"] != 2.0 {
		t.Errorf("sent %s %v", got.method, got.body)
	}
}

// The last event of a leader is that it has stopped leading.
func TestWhatIsInTheQueueAtTheStopIsSent(t *testing.T) {
	config, requests := apiServer(t, nil)
	p, stop := running(t, config, nil)
	recorder := p.GetEventRecorderFor("frogs")
	var want, got []string
	for i := range 8 { // fewer than the client may send at once
		frog := pod.DeepCopy()
		frog.Name, frog.UID = fmt.Sprint("frog-", i), types.UID(fmt.Sprint("uid-", i))
		want = append(want, frog.Name)
		recorder.Event(frog, "Normal", "Jumped", frog.Name)
	}
	stop()
	for range len(requests) {
		message, _ := (<-requests).body["message"].(string)
		got = append(got, message)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNothingIsSentAfterTheStop(t *testing.T) {
	config, requests := apiServer(t, nil)
	p, stop := running(t, config, nil)
	core, newer := p.GetEventRecorderFor("frogs"), p.GetEventRecorder("example.com/frogs")
	core.Event(pod, "Normal", "Jumped", "one")
	next(t, requests)
	stop()
	core.Event(pod, "Normal", "Jumped", "two")
	newer.Eventf(pod, nil, "Normal", "Jumped", "Jump", "three")
	p.GetEventRecorderFor("toads").Event(pod, "Normal", "Jumped", "four")
	if len(requests) > 0 {
		t.Errorf("sent %v", <-requests)
	}
}

// A server that does not answer must not keep a program from ending.
func TestStoppingCutsOffRequestsThatHang(t *testing.T) {
	arrived := make(chan struct{}, 10)
	config, _ := apiServer(t, func(_ http.ResponseWriter, req *http.Request) {
		// Without reading the body, a server does not notice that the client has hung up.
		_, _ = io.Copy(io.Discard, req.Body)
		arrived <- struct{}{}
		<-req.Context().Done()
	})
	p, stop := running(t, config, nil)
	p.GetEventRecorderFor("frogs").Event(pod, "Normal", "Jumped", "one")
	p.GetEventRecorder("example.com/frogs").Eventf(pod, nil, "Normal", "Jumped", "Jump", "two")
	<-arrived
	<-arrived
	begin := time.Now()
	stop()
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("stopped after %s", took)
	}
}

func TestEventsThatCannotBeSentDoNotBlock(t *testing.T) {
	release := make(chan struct{})
	config, _ := apiServer(t, func(http.ResponseWriter, *http.Request) { <-release })
	p, stop := running(t, config, nil)
	recorder := p.GetEventRecorderFor("frogs")
	for range 3000 {
		recorder.Event(pod, "Normal", "Jumped", strings.Repeat("x", 10))
	}
	close(release)
	stop()
}

func TestAGivenBroadcasterIsUsedAndLeftRunning(t *testing.T) {
	config, requests := apiServer(t, nil)
	mine := record.NewBroadcaster()
	defer mine.Shutdown()
	seen := make(chan string, 1)
	defer mine.StartEventWatcher(func(e *corev1.Event) { seen <- e.Message }).Stop()
	p, stop := running(t, config, mine)
	p.GetEventRecorderFor("frogs").Event(pod, "Normal", "Jumped", "one")
	next(t, requests)
	if got := <-seen; got != "one" {
		t.Errorf("the broadcaster saw %q", got)
	}
	stop()
	mine.NewRecorder(scheme.Scheme, corev1.EventSource{}).Event(pod, "Normal", "Jumped", "two")
	if got := <-seen; got != "two" {
		t.Errorf("after the stop the broadcaster saw %q", got)
	}
}
