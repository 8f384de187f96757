package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// podServer lists and watches a fixed set of pods as an API server does, in
// protobuf, by a list or by a watch that sends what exists first. All answers are
// encoded when it is made, so that serving costs the measured process little.
type podServer struct {
	http     *httptest.Server
	list     []byte // the answer to a list
	added    []byte // the frames of a watch that begins with what exists, its bookmark included
	podBytes float64
}

func newPodServer(pods []corev1.Pod) (*podServer, error) {
	version := fmt.Sprint(1000 + len(pods))
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), protobufType)
	if !ok {
		return nil, fmt.Errorf("no serializer for %s", protobufType)
	}
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)

	list, err := runtime.Encode(encoder, &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}, Items: pods})
	if err != nil {
		return nil, fmt.Errorf("encode the list of pods: %w", err)
	}

	var added bytes.Buffer
	frames := info.StreamSerializer.NewFrameWriter(&added)
	send := func(kind watch.EventType, obj runtime.Object) error {
		raw, err := runtime.Encode(encoder, obj)
		if err != nil {
			return err
		}
		return info.StreamSerializer.Encode(&metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: raw}}, frames)
	}
	for i := range pods {
		if err := send(watch.Added, &pods[i]); err != nil {
			return nil, fmt.Errorf("encode pod %s: %w", pods[i].Name, err)
		}
	}
	err = send(watch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: version, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}})
	if err != nil {
		return nil, fmt.Errorf("encode the bookmark: %w", err)
	}

	s := &podServer{list: list, added: added.Bytes(), podBytes: float64(len(list)) / float64(len(pods))}
	s.http = httptest.NewServer(s)
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *podServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case r.URL.Path != "/api/v1/pods":
		http.NotFound(w, r)
	case !strings.Contains(r.Header.Get("Accept"), protobufType):
		http.Error(w, "only protobuf is served", http.StatusNotAcceptable)
	case query.Get("watch") == "":
		w.Header().Set("Content-Type", protobufType)
		_, _ = w.Write(s.list)
	default:
		w.Header().Set("Content-Type", protobufType+";stream=watch")
		if query.Get("sendInitialEvents") == "true" {
			_, _ = w.Write(s.added)
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func (s *podServer) config() *rest.Config {
	return &rest.Config{Host: s.http.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: protobufType}}
}

// mapper spares both libraries the discovery that podServer does not serve.
func (s *podServer) mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	return m
}

func (s *podServer) close() {
	s.http.CloseClientConnections()
	s.http.Close()
}
