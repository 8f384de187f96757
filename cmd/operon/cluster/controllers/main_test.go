package controllers_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/operon-dev/operon/pkg/envtest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

var plane = struct {
	once   sync.Once
	env    envtest.Environment
	config *rest.Config
	err    error
}{env: envtest.Environment{Controllers: true}}

func TestMain(m *testing.M) {
	code := m.Run()
	if plane.config != nil {
		if err := plane.env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// start returns the control plane of all tests, which has the controllers and no nodes.
func start(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("OPERON") == "" {
		t.Skip("needs an API server: OPERON does not name the operon command")
	}
	plane.once.Do(func() { plane.config, plane.err = plane.env.Start() })
	if plane.err != nil {
		t.Fatal(plane.err)
	}
	return plane.config
}

// unique returns a name that no other run of a test has on the same control plane.
func unique(prefix string) string { return prefix + rand.String(5) }

// await watches one object until done says so.
func await[T any](t *testing.T, what, name string, open func(context.Context, metav1.ListOptions) (watch.Interface, error), done func(T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var last any
	for ctx.Err() == nil {
		w, err := open(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for e := range w.ResultChan() {
			obj, ok := e.Object.(T)
			if last = e.Object; ok && e.Type != watch.Deleted && done(obj) {
				w.Stop()
				return obj
			}
		}
	}
	t.Fatalf("%s: not seen; last: %+v", what, last)
	panic("unreachable")
}
