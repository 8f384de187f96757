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
