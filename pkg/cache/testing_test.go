package cache

import (
	"net"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
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

var configMapType = reflect.TypeFor[*corev1.ConfigMap]()
