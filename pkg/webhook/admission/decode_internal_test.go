package admission

import (
	"bytes"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

func TestTheKindIsFoundAheadOnlyWhereItComesFirst(t *testing.T) {
	pod := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	for object, want := range map[string]schema.GroupVersionKind{
		`{"kind":"Pod","apiVersion":"v1","metadata":{}}`:                  pod,
		`{"apiVersion":"v1","kind":"Pod","metadata":{}}`:                  pod,
		` {"apiVersion":"apps/v1","kind":"Deployment","spec":{}}`:         {Group: "apps", Version: "v1", Kind: "Deployment"},
		`{"metadata":{},"kind":"Pod","apiVersion":"v1"}`:                  {},
		`{"kind":"Pod","metadata":{"a":"b"},"apiVersion":"v1","spec":{}}`: {},
		`{"kind":"Pod","kind":"Pod","apiVersion":"v1"}`:                   {},
		`{"kind":"P\u006fd","apiVersion":"v1","spec":{}}`:                 {},
		`{"kind":"Pod","apiVersion":"a/b/c","spec":{}}`:                   {},
		`{"kind":"Pod"`: {},
		`{`:             {},
		``:              {},
		`[]`:            {},
	} {
		got, ok := kindAhead([]byte(object))
		if ok != !want.Empty() || ok && got != want {
			t.Errorf("%s: %v, %v; want %v", object, got, ok, want)
		}
	}
}

// Wherever its kind stands, an object goes into its own type and into no other.
func TestObjectsAreDecodedIntoTheirOwnTypeAlone(t *testing.T) {
	decoder := NewDecoder(clientgoscheme.Scheme)
	for _, object := range []string{
		`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`,
		`{"metadata":{"name":"a"},"apiVersion":"v1","kind":"Pod"}`,
	} {
		raw := runtime.RawExtension{Raw: []byte(object)}
		pod, service := &corev1.Pod{}, &corev1.Service{}
		if err := decoder.DecodeRaw(raw, pod); err != nil || pod.Name != "a" || pod.Kind != "Pod" {
			t.Errorf("%s: %v, %+v", object, err, pod)
		}
		if err := decoder.DecodeRaw(raw, service); err == nil || service.Name != "" {
			t.Errorf("%s becomes a Service: %v, %+v", object, err, service)
		}
	}
}

// What is found ahead is what a whole pass over the object finds, for every object that says its kind once.
func FuzzKindAhead(f *testing.F) {
	f.Add([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{}}`))
	f.Add([]byte(` {"apiVersion":"apps/v1","kind":"Deployment","spec":{}}`))
	f.Add([]byte(`{"kind":"Pod","apiVersion":"a/b/c","spec":{}}`))
	f.Fuzz(func(t *testing.T, object []byte) {
		ahead, ok := kindAhead(object)
		whole, err := serializer.DefaultMetaFactory.Interpret(object)
		once := bytes.Count(object, []byte(`"kind"`)) == 1 && bytes.Count(object, []byte(`"apiVersion"`)) == 1 && !bytes.Contains(object, []byte(`\u`))
		if ok && err == nil && once && utf8.Valid(object) && ahead != *whole {
			t.Errorf("%q: %v ahead, %v in the whole", object, ahead, whole)
		}
	})
}
