package served

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

type object interface {
	metav1.Object
	runtime.Object
}

// A Set is objects of one kind that a Server has.
type Set struct {
	GVK    schema.GroupVersionKind
	Plural string
	Count  int
	make   func(i int) object // the same each time for the same i; with its kind set
	json   bool               // there is no protobuf of it, as of all custom resources
}

// firstVersion is the resource version of a set's first object.
const firstVersion = 1000

// ConfigFor makes clients of the server at a URL ask for protobuf where they know the Go type, and for JSON otherwise. They are not rate limited.
func (r Set) ConfigFor(url string) *rest.Config {
	cfg := &rest.Config{Host: url, QPS: -1}
	if !r.json {
		cfg.ContentType = runtime.ContentTypeProtobuf
	}
	return cfg
}

// Mapper spares clients the discovery that a Server does not serve.
func (r Set) Mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{r.GVK.GroupVersion()})
	m.AddSpecific(r.GVK, r.GVK.GroupVersion().WithResource(r.Plural), r.GVK.GroupVersion().WithResource(strings.ToLower(r.GVK.Kind)), meta.RESTScopeNamespace)
	return m
}
