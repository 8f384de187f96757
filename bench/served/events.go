package served

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// An EventServer serves a watch of ConfigMaps that begins with none and then sends what it is told to.
type EventServer struct {
	http   *httptest.Server
	info   runtime.SerializerInfo
	frames chan []byte

	mu      sync.Mutex
	version int
}

// NewEventServer returns a server that runs until Close.
func NewEventServer() (*EventServer, error) {
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		return nil, fmt.Errorf("no serializer for %s", runtime.ContentTypeProtobuf)
	}
	s := &EventServer{info: info, frames: make(chan []byte, 1024)}
	s.http = httptest.NewServer(s)
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *EventServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/v1/configmaps" || r.URL.Query().Get("sendInitialEvents") != "true" {
		http.Error(w, "only a watch of ConfigMaps with the initial events is served", http.StatusNotImplemented)
		return
	}
	bookmark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}
	frame, err := s.encode(watch.Bookmark, bookmark)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf+";stream=watch")
	for {
		if _, err := w.Write(frame); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case frame = <-s.frames:
		}
	}
}

// encode gives the object the next version.
func (s *EventServer) encode(kind watch.EventType, obj object) ([]byte, error) {
	s.mu.Lock()
	s.version++
	obj.SetResourceVersion(fmt.Sprint(1000 + s.version))
	s.mu.Unlock()
	raw, err := runtime.Encode(scheme.Codecs.EncoderForVersion(s.info.Serializer, corev1.SchemeGroupVersion), obj)
	if err != nil {
		return nil, err
	}
	var frame bytes.Buffer
	err = s.info.StreamSerializer.Encode(&metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: raw}}, s.info.StreamSerializer.NewFrameWriter(&frame))
	return frame.Bytes(), err
}

// Send sends an event of an object, which gets the next version, to whoever watches.
func (s *EventServer) Send(kind watch.EventType, obj object) error {
	frame, err := s.encode(kind, obj)
	if err == nil {
		s.frames <- frame
	}
	return err
}

// URL is where the server is.
func (s *EventServer) URL() string { return s.http.URL }

// Close ends the server and its watch.
func (s *EventServer) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}
