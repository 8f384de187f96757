package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// objectSet is objects of one kind that an objectServer has.
type objectSet struct {
	gvk    schema.GroupVersionKind
	plural string
	count  int
	make   func(i int) object // the same each time for the same i; with its kind set
	json   bool               // there is no protobuf of it, as of all custom resources
}

// encoding is a form in which an object can be asked for.
type encoding struct {
	protobuf bool
	metadata bool // PartialObjectMetadata
}

func (e encoding) mediaType() string {
	if e.protobuf {
		return runtime.ContentTypeProtobuf
	}
	return runtime.ContentTypeJSON
}

// objectServer serves one resource, whose objects never change, by a watch that
// sends what exists first, as an API server does. An answer is encoded once, so
// that serving it again costs the measured process little.
type objectServer struct {
	objectSet
	http *httptest.Server

	mu      sync.Mutex
	answers map[encoding][][]byte

	watches atomic.Int64 // how many are open
}

func newObjectServer(r objectSet) *objectServer {
	s := &objectServer{objectSet: r, answers: map[encoding][][]byte{}}
	s.http = httptest.NewServer(s)
	return s
}

// ServeHTTP implements http.Handler.
func (s *objectServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query, accept := r.URL.Query(), r.Header.Get("Accept")
	if r.URL.Path != s.path() {
		http.NotFound(w, r)
		return
	}
	// Clients since Kubernetes 1.35 ask for this first; falling back to a list would be another measure.
	if query.Get("watch") == "" || query.Get("sendInitialEvents") != "true" {
		http.Error(w, "only a watch with the initial events is served", http.StatusNotImplemented)
		return
	}
	s.watches.Add(1)
	defer s.watches.Add(-1)
	first, _, _ := strings.Cut(accept, ",")
	asked := encoding{
		protobuf: strings.Contains(first, runtime.ContentTypeProtobuf) && !s.json,
		metadata: strings.Contains(first, "as=PartialObjectMetadata"),
	}
	frames, err := s.answer(asked)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", asked.mediaType()+";stream=watch")
	for _, frame := range frames {
		if _, err := w.Write(frame); err != nil {
			return
		}
	}
	frames = nil
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func (s *objectServer) path() string {
	if s.gvk.Group == "" {
		return "/api/" + s.gvk.Version + "/" + s.plural
	}
	return "/apis/" + s.gvk.Group + "/" + s.gvk.Version + "/" + s.plural
}

// answer returns the frames of a watch: every object, and the bookmark that ends the initial events.
func (s *objectServer) answer(e encoding) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if frames := s.answers[e]; frames != nil {
		return frames, nil
	}
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), e.mediaType())
	if !ok {
		return nil, fmt.Errorf("no serializer for %s", e.mediaType())
	}
	frames := make([][]byte, 0, s.count+1)
	add := func(kind watch.EventType, obj object) error {
		raw, err := runtime.Encode(info.Serializer, inForm(obj, e))
		if err != nil {
			return err
		}
		var frame strings.Builder
		err = info.StreamSerializer.Encode(&metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: raw}}, info.StreamSerializer.NewFrameWriter(&frame))
		frames = append(frames, []byte(frame.String()))
		return err
	}
	for i := range s.count {
		obj := s.make(i)
		if err := add(watch.Added, obj); err != nil {
			return nil, fmt.Errorf("encode %s %s/%s: %w", s.gvk.Kind, obj.GetNamespace(), obj.GetName(), err)
		}
	}
	end := s.make(0).DeepCopyObject().(object)
	end.SetResourceVersion(fmt.Sprint(firstVersion + s.count))
	end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	if err := add(watch.Bookmark, end); err != nil {
		return nil, fmt.Errorf("encode the bookmark: %w", err)
	}
	s.answers[e] = frames
	return frames, nil
}

// firstVersion is the resource version of a resource's first object.
const firstVersion = 1000

func inForm(obj object, e encoding) runtime.Object {
	if !e.metadata {
		return obj
	}
	partial := meta.AsPartialObjectMetadata(obj)
	partial.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	return partial
}

// prepare encodes an answer ahead of what is measured, and returns how many bytes an object is, encoded.
func (s *objectServer) prepare(e encoding) (float64, error) {
	frames, err := s.answer(e)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, frame := range frames[:s.count] {
		total += len(frame)
	}
	return float64(total) / float64(s.count), nil
}

// forget frees the answers that have been sent.
func (s *objectServer) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.answers)
}

// config makes clients ask for protobuf where they know the Go type, and for JSON otherwise.
func (s *objectServer) config() *rest.Config { return configFor(s.http.URL, s.json) }

func configFor(url string, json bool) *rest.Config {
	cfg := &rest.Config{Host: url, QPS: -1}
	if !json {
		cfg.ContentType = runtime.ContentTypeProtobuf
	}
	return cfg
}

// mapper spares both libraries the discovery that objectServer does not serve.
func (r objectSet) mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{r.gvk.GroupVersion()})
	m.AddSpecific(r.gvk, r.gvk.GroupVersion().WithResource(r.plural), r.gvk.GroupVersion().WithResource(strings.ToLower(r.gvk.Kind)), meta.RESTScopeNamespace)
	return m
}

// awaitNoWatch waits until the server has seen the end of every watch.
func (s *objectServer) awaitNoWatch() {
	for s.watches.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
}

func (s *objectServer) close() {
	s.http.CloseClientConnections()
	s.http.Close()
}
