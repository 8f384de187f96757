package interceptor_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/client/interceptor"
)

var errIntercepted = errors.New("intercepted")

func pod() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
}

var nothing = client.RawPatch(types.MergePatchType, []byte(`{}`))

// calls are all that can be intercepted, by the name of the function that does it.
var calls = map[string]func(context.Context, client.WithWatch) error{
	"Get": func(ctx context.Context, c client.WithWatch) error {
		return c.Get(ctx, client.ObjectKeyFromObject(pod()), pod())
	},
	"List": func(ctx context.Context, c client.WithWatch) error { return c.List(ctx, &corev1.PodList{}) },
	"Create": func(ctx context.Context, c client.WithWatch) error {
		return c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a"}})
	},
	"Delete": func(ctx context.Context, c client.WithWatch) error { return c.Delete(ctx, pod(), client.DryRunAll) },
	"DeleteAllOf": func(ctx context.Context, c client.WithWatch) error {
		return c.DeleteAllOf(ctx, pod(), client.DryRunAll)
	},
	"Update": func(ctx context.Context, c client.WithWatch) error { return c.Update(ctx, pod()) },
	"Patch":  func(ctx context.Context, c client.WithWatch) error { return c.Patch(ctx, pod(), nothing) },
	"Apply": func(ctx context.Context, c client.WithWatch) error {
		return c.Apply(ctx, corev1ac.Pod("p", "ns"), client.FieldOwner("me"))
	},
	"Watch": func(ctx context.Context, c client.WithWatch) error {
		w, err := c.Watch(ctx, &corev1.PodList{})
		if err == nil {
			w.Stop()
		}
		return err
	},
	"SubResourceGet": func(ctx context.Context, c client.WithWatch) error {
		return c.SubResource("status").Get(ctx, pod(), pod())
	},
	"SubResourceCreate": func(ctx context.Context, c client.WithWatch) error {
		return c.SubResource("binding").Create(ctx, pod(), &corev1.Binding{Target: corev1.ObjectReference{Name: "n"}}, client.DryRunAll)
	},
	"SubResourceUpdate": func(ctx context.Context, c client.WithWatch) error { return c.Status().Update(ctx, pod()) },
	"SubResourcePatch":  func(ctx context.Context, c client.WithWatch) error { return c.Status().Patch(ctx, pod(), nothing) },
	"SubResourceApply": func(ctx context.Context, c client.WithWatch) error {
		return c.Status().Apply(ctx, corev1ac.Pod("p", "ns"), client.FieldOwner("me"))
	},
}

// intercepting returns functions of which the one called name fails, after it has checked what it was given.
func intercepting(t *testing.T, name string, inner client.WithWatch) interceptor.Funcs {
	var funcs interceptor.Funcs
	field := reflect.ValueOf(&funcs).Elem().FieldByName(name)
	field.Set(reflect.MakeFunc(field.Type(), func(args []reflect.Value) []reflect.Value {
		if got := args[1].Interface(); got != any(inner) {
			t.Errorf("%s was given %T, want the client that is wrapped", name, got)
		}
		results := make([]reflect.Value, field.Type().NumOut())
		for i := range results {
			results[i] = reflect.Zero(field.Type().Out(i))
		}
		results[len(results)-1] = reflect.ValueOf(&errIntercepted).Elem()
		return results
	}))
	return funcs
}

func TestEachFunctionStandsInForItsMethodAlone(t *testing.T) {
	for name := range calls {
		t.Run(name, func(t *testing.T) {
			inner := fake.NewClientBuilder().WithObjects(pod()).Build()
			c := interceptor.NewClient(inner, intercepting(t, name, inner))
			for called, call := range calls {
				err := call(t.Context(), c)
				if called == name && err != errIntercepted {
					t.Errorf("the error of the function was %v", err)
				}
				if called != name && err != nil {
					t.Errorf("%s, which is not intercepted: %v", called, err)
				}
			}
		})
	}
}

func TestEveryFunctionIsTested(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[interceptor.Funcs]()) {
		if calls[field.Name] == nil && field.Name != "SubResource" {
			t.Errorf("nothing calls Funcs.%s", field.Name)
		}
	}
}

func TestSubResourceMakesTheWholeClient(t *testing.T) {
	inner := fake.NewClientBuilder().WithObjects(pod()).Build()
	var asked []string
	c := interceptor.NewClient(inner, interceptor.Funcs{
		SubResource: func(c client.WithWatch, name string) client.SubResourceClient {
			asked = append(asked, name)
			return c.SubResource(name)
		},
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return errIntercepted
		},
	})
	if err := c.Status().Update(t.Context(), pod()); err != nil {
		t.Errorf("status update: %v", err)
	}
	if err := c.SubResource("eviction").Create(t.Context(), pod(), pod()); err == nil {
		t.Error("the fake accepted a pod as an eviction")
	}
	if got := fmt.Sprint(asked); got != "[status eviction]" {
		t.Errorf("asked for %s", got)
	}
}

func TestWrappedClientCanBeHad(t *testing.T) {
	inner := fake.NewClientBuilder().Build()
	wrapping, ok := interceptor.NewClient(inner, interceptor.Funcs{}).(interface{ Unwrap() client.WithWatch })
	if !ok || wrapping.Unwrap() != inner {
		t.Error("Unwrap does not return the wrapped client")
	}
	if c := interceptor.NewClient(inner, interceptor.Funcs{}); c.Scheme() != inner.Scheme() || c.RESTMapper() != inner.RESTMapper() {
		t.Error("scheme or mapper are not those of the wrapped client")
	}
}
