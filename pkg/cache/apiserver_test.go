package cache

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// testServer speaks the list and watch protocol of the Kubernetes API for whatever is put into it.
type testServer struct {
	*httptest.Server
	t testing.TB

	mu       sync.Mutex
	rv       int
	objects  map[string]map[string]map[string]any // resource → namespace/name → object
	log      []testEvent
	oldest   int // resourceVersions up to this one are gone
	watchers map[chan struct{}]struct{}
	cut      chan struct{} // closed to end all watches
	requests []string
	open     int // watches
	maxOpen  int
	forbid   map[string]bool // resource
	stream   bool            // supports sendInitialEvents
	hold     chan struct{}   // requests wait for it, if not nil
	down     bool            // every connection is closed
	putOff   int             // so many requests are told to come again in a minute
	broken   int             // the status that every request is answered with, without a body that says more; 0 for none
}

type testEvent struct {
	kind     string
	resource string
	rv       int
	object   map[string]any
	old      map[string]any
}

func newTestServer(t testing.TB) *testServer {
	s := &testServer{
		t: t, rv: 100, objects: map[string]map[string]map[string]any{}, watchers: map[chan struct{}]struct{}{},
		cut: make(chan struct{}), forbid: map[string]bool{}, stream: true,
	}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(func() {
		s.cutWatches()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *testServer) config() *rest.Config {
	return &rest.Config{Host: s.URL, QPS: -1}
}

// testMapper knows configmaps, pods, nodes and widgets without asking anybody.
func testMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"ConfigMap", "Pod", "Secret"} {
		m.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	m.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	m.Add(widgetKind, meta.RESTScopeNamespace)
	return m
}

var widgetKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// put creates or updates an object and returns it as the server would answer.
func (s *testServer) put(resource string, object any) map[string]any {
	raw, err := json.Marshal(object)
	if err != nil {
		s.t.Fatal(err)
	}
	var obj map[string]any
	if err := json.Unmarshal(raw, &obj); err != nil {
		s.t.Fatal(err)
	}
	m, _ := obj["metadata"].(map[string]any)
	delete(m, "creationTimestamp")
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%v/%v", m["namespace"], m["name"])
	if s.objects[resource] == nil {
		s.objects[resource] = map[string]map[string]any{}
	}
	old := s.objects[resource][key]
	s.rv++
	m["resourceVersion"] = strconv.Itoa(s.rv)
	kind := "ADDED"
	if old != nil {
		kind = "MODIFIED"
		m["uid"] = old["metadata"].(map[string]any)["uid"]
	} else {
		m["uid"] = fmt.Sprintf("uid-%d", s.rv)
	}
	s.objects[resource][key] = obj
	s.event(testEvent{kind: kind, resource: resource, rv: s.rv, object: obj, old: old})
	return obj
}

func (s *testServer) remove(resource, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := namespace + "/" + name
	old := s.objects[resource][key]
	if old == nil {
		s.t.Fatalf("%s %s is not there", resource, key)
	}
	delete(s.objects[resource], key)
	s.rv++
	last := deepCopyJSON(old)
	last["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(s.rv)
	s.event(testEvent{kind: "DELETED", resource: resource, rv: s.rv, object: last, old: old})
}

func (s *testServer) event(e testEvent) {
	s.log = append(s.log, e)
	for w := range s.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// bookmark tells all watches how far they are.
func (s *testServer) bookmark() (rv int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rv++
	s.event(testEvent{kind: "BOOKMARK", rv: s.rv})
	return s.rv
}

// compact makes the server forget its history, and ends all watches.
func (s *testServer) compact() {
	s.mu.Lock()
	s.rv++ // whatever a watch has seen is too old now
	s.oldest = s.rv
	s.mu.Unlock()
	s.cutWatches()
}

func (s *testServer) cutWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cut)
	s.cut = make(chan struct{})
}

// count is the number of requests whose method, path and verb contain what.
func (s *testServer) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if strings.Contains(r, what) {
			n++
		}
	}
	return n
}

func (s *testServer) openWatches() (now, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open, s.maxOpen
}

// ServeHTTP serves /api/v1/... and /apis/group/version/..., whole resources only.
func (s *testServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	api := 2
	if parts[0] == "apis" {
		api = 3
	}
	gv := strings.Join(parts[1:api], "/")
	parts = parts[api:]
	namespace := ""
	if len(parts) == 3 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	if len(parts) != 1 {
		http.NotFound(w, r)
		return
	}
	q := r.URL.Query()
	req := &listRequest{resource: parts[0], namespace: namespace, gv: gv, metadata: strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata")}
	var err error
	if req.labels, err = labels.Parse(q.Get("labelSelector")); err == nil {
		req.fields, err = fields.ParseSelector(q.Get("fieldSelector"))
	}
	if err != nil {
		s.fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	verb := "list"
	if q.Get("watch") == "true" || q.Get("watch") == "1" {
		verb = "watch"
	}
	s.mu.Lock()
	s.requests = append(s.requests, verb+" "+r.URL.Path+"?"+r.URL.RawQuery)
	forbidden, hold, down, broken := s.forbid[req.resource], s.hold, s.down, s.broken
	putOff := s.putOff > 0
	s.putOff--
	s.mu.Unlock()
	if down {
		panic(http.ErrAbortHandler)
	}
	if broken != 0 {
		http.Error(w, "<html>out of order</html>", broken)
		return
	}
	if forbidden {
		s.fail(w, http.StatusForbidden, metav1.StatusReasonForbidden,
			fmt.Sprintf(`%s is forbidden: User "system:serviceaccount:ops:robot" cannot %s resource "%s" in API group "" at the cluster scope`, req.resource, verb, req.resource))
		return
	}
	if putOff {
		w.Header().Set("Retry-After", "60")
		s.fail(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "storage is (re)initializing")
		return
	}
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if verb == "list" {
		s.list(w, req)
		return
	}
	s.watch(w, r, req)
}

type listRequest struct {
	resource, namespace, gv string
	labels                  labels.Selector
	fields                  fields.Selector
	metadata                bool
}

// selects says whether an object belongs to the answer.
func (r *listRequest) selects(obj map[string]any) bool {
	if obj == nil {
		return false
	}
	m := obj["metadata"].(map[string]any)
	ns, _ := m["namespace"].(string)
	set := labels.Set{}
	if ls, ok := m["labels"].(map[string]any); ok {
		for k, v := range ls {
			set[k] = v.(string)
		}
	}
	fs := fields.Set{"metadata.name": m["name"].(string), "metadata.namespace": ns}
	if spec, ok := obj["spec"].(map[string]any); ok {
		for k, v := range spec {
			if str, ok := v.(string); ok {
				fs["spec."+k] = str
			}
		}
	}
	return (r.namespace == "" || r.namespace == ns) && r.labels.Matches(set) && r.fields.Matches(fs)
}

// show is the object as the client wants it.
func (r *listRequest) show(obj map[string]any) map[string]any {
	if !r.metadata {
		return obj
	}
	return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": obj["metadata"]}
}

func (s *testServer) list(w http.ResponseWriter, r *listRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []any{}
	kind, gv := "List", r.gv
	for _, obj := range s.objects[r.resource] {
		if r.selects(obj) {
			items = append(items, r.show(obj))
			kind = obj["kind"].(string) + "List"
		}
	}
	if kind == "List" {
		kind = map[string]string{"configmaps": "ConfigMap", "pods": "Pod", "nodes": "Node", "widgets": "Widget", "secrets": "Secret"}[r.resource] + "List"
	}
	if r.metadata {
		kind, gv = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": gv, "kind": kind, "metadata": map[string]any{"resourceVersion": strconv.Itoa(s.rv)}, "items": items,
	})
}

func (s *testServer) watch(w http.ResponseWriter, r *http.Request, req *listRequest) {
	q := r.URL.Query()
	enc := json.NewEncoder(w)
	send := func(kind string, obj map[string]any) {
		_ = enc.Encode(map[string]any{"type": kind, "object": obj})
		w.(http.Flusher).Flush()
	}
	initial := q.Get("sendInitialEvents") == "true"
	if initial && !s.stream {
		s.fail(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "sendInitialEvents is forbidden")
		return
	}
	from, _ := strconv.Atoi(q.Get("resourceVersion"))

	s.mu.Lock()
	if from < s.oldest && !initial {
		s.mu.Unlock()
		send("ERROR", statusOf(http.StatusGone, metav1.StatusReasonExpired, "too old resource version"))
		return
	}
	wake, cut := make(chan struct{}, 1), s.cut
	s.watchers[wake] = struct{}{}
	s.open++
	s.maxOpen = max(s.maxOpen, s.open)
	at := len(s.log)
	var first []map[string]any
	if initial {
		for _, obj := range s.objects[req.resource] {
			if req.selects(obj) {
				first = append(first, obj)
			}
		}
		from = s.rv
	} else {
		for at > 0 && s.log[at-1].rv > from {
			at--
		}
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watchers, wake)
		s.open--
		s.mu.Unlock()
	}()
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for _, obj := range first {
		send("ADDED", req.show(obj))
	}
	bookmark := func(rv int, annotations map[string]any) {
		kind, gv := map[string]string{"configmaps": "ConfigMap", "pods": "Pod", "nodes": "Node", "widgets": "Widget", "secrets": "Secret"}[req.resource], req.gv
		if req.metadata {
			kind, gv = "PartialObjectMetadata", "meta.k8s.io/v1"
		}
		send("BOOKMARK", map[string]any{"apiVersion": gv, "kind": kind, "metadata": map[string]any{
			"resourceVersion": strconv.Itoa(rv), "annotations": annotations,
		}})
	}
	if initial {
		bookmark(from, map[string]any{metav1.InitialEventsAnnotationKey: "true"})
	}
	for {
		s.mu.Lock()
		events := s.log[at:]
		at = len(s.log)
		s.mu.Unlock()
		for _, e := range events {
			if e.kind == "BOOKMARK" && q.Get("allowWatchBookmarks") == "true" {
				bookmark(e.rv, nil)
			}
			if e.resource != req.resource {
				continue
			}
			is, was := e.kind != "DELETED" && req.selects(e.object), req.selects(e.old)
			switch {
			case is && was:
				send("MODIFIED", req.show(e.object))
			case is:
				send("ADDED", req.show(e.object))
			case was:
				last := deepCopyJSON(e.old)
				last["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(e.rv)
				send("DELETED", req.show(last))
			}
		}
		select {
		case <-wake:
		case <-cut:
			return
		case <-r.Context().Done():
			return
		case <-time.After(time.Minute):
			return
		}
	}
}

func statusOf(code int, reason metav1.StatusReason, message string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}
}

func (s *testServer) fail(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(statusOf(code, reason, message))
}

func deepCopyJSON(in map[string]any) map[string]any {
	raw, _ := json.Marshal(in)
	var out map[string]any
	_ = json.Unmarshal(raw, &out)
	return out
}
