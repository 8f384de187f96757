package client_test

import (
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/operon-dev/operon/pkg/client"
)

func widgetLists() []client.ObjectList {
	u := &unstructured.UnstructuredList{}
	u.SetGroupVersionKind(widgetVersion.WithKind("WidgetList"))
	m := &metav1.PartialObjectMetadataList{}
	m.SetGroupVersionKind(widgetVersion.WithKind("WidgetList"))
	return []client.ObjectList{&WidgetList{}, u, m}
}

func TestWatchesSayWhatTheServerSays(t *testing.T) {
	const expired = `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Expired","message":"too old","code":410}`
	s := newServer(t, nil)
	c, err := client.NewWithWatch(s.config(), client.Options{Scheme: newScheme(), Mapper: newMapper(), FieldOwner: "me"})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range widgetLists() {
		s.answer = func(request) (int, string, string) { return http.StatusGone, jsonType, expired }
		if _, err := c.Watch(t.Context(), list); !apierrors.IsResourceExpired(err) || err.Error() != "too old" {
			t.Errorf("%T: refused with %v", list, err)
		}
		s.sent()

		s.answer = func(request) (int, string, string) {
			return http.StatusOK, jsonType, `{"type":"MODIFIED","object":` + widgetJSON + `}` + "\n" + `{"type":"ERROR","object":` + expired + `}`
		}
		w, err := c.Watch(t.Context(), list, client.InNamespace("n"), client.MatchingLabels{"a": "b"},
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "5", AllowWatchBookmarks: true}})
		if err != nil {
			t.Fatal(err)
		}
		got := s.one(t)
		if got.Path != "/apis/example.com/v1/namespaces/n/widgets" ||
			got.Query.Encode() != "allowWatchBookmarks=true&labelSelector=a%3Db&resourceVersion=5&watch=true" {
			t.Errorf("%T: sent to %s with %s", list, got.Path, got.Query.Encode())
		}
		if event := <-w.ResultChan(); event.Type != watch.Modified || event.Object.(client.Object).GetUID() != "u" {
			t.Errorf("%T: %s %v", list, event.Type, event.Object)
		}
		if event := <-w.ResultChan(); event.Type != watch.Error || !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)) {
			t.Errorf("%T: %s %v", list, event.Type, event.Object)
		}
		w.Stop()
	}
}
