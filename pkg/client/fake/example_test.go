package fake_test

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/client/interceptor"
)

func ExampleNewClientBuilder() {
	ctx := context.Background()
	c := fake.NewClientBuilder().Build()
	web := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	fmt.Println(c.Create(ctx, web), web.Generation)

	web.Spec.Replicas = ptr.To[int32](3)
	fmt.Println(c.Update(ctx, web), web.Generation)

	web.Status.ReadyReplicas = 3
	fmt.Println(c.Status().Update(ctx, web), web.Generation, web.Status.ReadyReplicas)
	// Output:
	// <nil> 1
	// <nil> 2
	// <nil> 2 3
}

func ExampleClientBuilder_WithInterceptorFuncs() {
	ctx := context.Background()
	c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return apierrors.NewInternalError(errors.New("out of order"))
		},
	}).Build()
	fmt.Println(c.Create(ctx, &corev1.ConfigMap{}))
	// Output: Internal error occurred: out of order
}

func ExampleClientBuilder_WithCRDs() {
	ctx := context.Background()
	c := fake.NewClientBuilder().WithCRDs(gadgetCRD()).Build()
	g := gadget("g", map[string]any{"color": "red"})
	fmt.Println(c.Create(ctx, g), g.Object["spec"])
	fmt.Println(c.Create(ctx, gadget("h", map[string]any{"color": "green"})))
	// Output:
	// <nil> map[color:red size:1]
	// Gadget.example.com "h" is invalid: spec.color: Unsupported value: "green": supported values: "red", "blue"
}
