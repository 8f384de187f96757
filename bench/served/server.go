package served

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
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// An Encoding is a form in which an object can be asked for.
type Encoding struct {
	Protobuf bool
	Metadata bool // PartialObjectMetadata
}

func (e Encoding) mediaType() string {
	if e.Protobuf {
		return runtime.ContentTypeProtobuf
	}
	return runtime.ContentTypeJSON
}

// A Server serves one resource, whose objects never change, by a watch that
// sends what exists first, as an API server does. An answer is encoded once, so
// that serving it again costs the measured process little.
type Server struct {
	Set
	http *httptest.Server

	mu      sync.Mutex
	answers map[Encoding][][]byte

	watches atomic.Int64
}

// NewServer returns a server that runs until Close.
func NewServer(r Set) *Server {
	s := &Server{Set: r, answers: map[Encoding][][]byte{}}
	s.http = httptest.NewServer(s)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	asked := Encoding{
		Protobuf: strings.Contains(first, runtime.ContentTypeProtobuf) && !s.json,
		Metadata: strings.Contains(first, "as=PartialObjectMetadata"),
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

func (s *Server) path() string {
	if s.GVK.Group == "" {
		return "/api/" + s.GVK.Version + "/" + s.Plural
	}
	return "/apis/" + s.GVK.Group + "/" + s.GVK.Version + "/" + s.Plural
}

// answer returns the frames of a watch: every object, and the bookmark that ends the initial events.
func (s *Server) answer(e Encoding) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if frames := s.answers[e]; frames != nil {
		return frames, nil
	}
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), e.mediaType())
	if !ok {
		return nil, fmt.Errorf("no serializer for %s", e.mediaType())
	}
	frames := make([][]byte, 0, s.Count+1)
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
	for i := range s.Count {
		obj := s.make(i)
		if err := add(watch.Added, obj); err != nil {
			return nil, fmt.Errorf("encode %s %s/%s: %w", s.GVK.Kind, obj.GetNamespace(), obj.GetName(), err)
		}
	}
	end := s.make(0).DeepCopyObject().(object)
	end.SetResourceVersion(fmt.Sprint(firstVersion + s.Count))
	end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	if err := add(watch.Bookmark, end); err != nil {
		return nil, fmt.Errorf("encode the bookmark: %w", err)
	}
	s.answers[e] = frames
	return frames, nil
}

func inForm(obj object, e Encoding) runtime.Object {
	if !e.Metadata {
		return obj
	}
	partial := meta.AsPartialObjectMetadata(obj)
	partial.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	return partial
}

// Prepare encodes an answer ahead of what is measured, and returns how many bytes an object is, encoded.
func (s *Server) Prepare(e Encoding) (float64, error) {
	frames, err := s.answer(e)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, frame := range frames[:s.Count] {
		total += len(frame)
	}
	return float64(total) / float64(s.Count), nil
}

// Forget frees the answers that have been sent.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.answers)
}

// URL is where the server is.
func (s *Server) URL() string { return s.http.URL }

// Config is for clients of the server.
func (s *Server) Config() *rest.Config { return s.ConfigFor(s.URL()) }

// Watches is how many are open.
func (s *Server) Watches() int { return int(s.watches.Load()) }

// AwaitNoWatch waits until the server has seen the end of every watch.
func (s *Server) AwaitNoWatch() {
	for s.watches.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
}

// Close ends the server and its watches.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}
