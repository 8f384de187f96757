package cache

import (
	"encoding/json"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/client"
)

// downConfig leads to an address where nobody listens.
func downConfig() *rest.Config {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return &rest.Config{Host: "http://" + l.Addr().String(), QPS: -1}
}

// names are the namespaces and names of a list in order.
func names(l *corev1.ConfigMapList) string {
	var all []string
	for i := range l.Items {
		all = append(all, l.Items[i].Namespace+"/"+l.Items[i].Name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// useInformer gets an informer and hears it, as a controller's source does.
func useInformer(t testing.TB, c Cache, obj client.Object) (Informer, toolscache.ResourceEventHandlerRegistration, *recorder) {
	t.Helper()
	i, err := c.GetInformer(t.Context(), obj)
	if err != nil {
		t.Fatal(err)
	}
	reg, rec := hear(t, i)
	return i, reg, rec
}

// hear adds a recorder to an informer, and returns when it has been told of the first list.
func hear(t testing.TB, i Informer) (toolscache.ResourceEventHandlerRegistration, *recorder) {
	t.Helper()
	rec := newRecorder()
	reg, err := i.AddEventHandler(rec)
	if err != nil {
		t.Fatal(err)
	}
	<-reg.HasSyncedChecker().Done()
	return reg, rec
}

var (
	configMapType = reflect.TypeFor[*corev1.ConfigMap]()
	podType       = reflect.TypeFor[*corev1.Pod]()
	secretType    = reflect.TypeFor[*corev1.Secret]()
	widgetType    = reflect.TypeFor[*widget]()
)

func testScheme() *runtime.Scheme { return clientgoscheme.Scheme }

// jsonEqual says whether two objects are the same to whoever reads them.
func jsonEqual(t testing.TB, a, b any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}
