package finalizer_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest"
	"github.com/operon-dev/operon/pkg/finalizer"
)

// finalize is what the package comment says a reconciler does.
func finalize(ctx context.Context, c client.Client, finalizers finalizer.Finalizers, obj client.Object) error {
	res, err := finalizers.Finalize(ctx, obj)
	if res.StatusUpdated {
		answer := obj.DeepCopyObject().(client.Object)
		if werr := c.Status().Update(ctx, answer); werr != nil {
			return errors.Join(err, client.IgnoreNotFound(werr))
		}
		obj.SetResourceVersion(answer.GetResourceVersion())
	}
	if res.Updated {
		err = errors.Join(err, client.IgnoreNotFound(c.Update(ctx, obj)))
	}
	return err
}

func TestAnObjectGoesWhenItsLastFinalizerIsDone(t *testing.T) {
	if os.Getenv("OPERON") == "" {
		t.Skip("OPERON, the path of the operon binary, is not set")
	}
	env := &envtest.Environment{}
	cfg, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	ctx := t.Context()
	busy := errors.New("still draining")
	var drained bool
	finalizers := finalizer.NewFinalizers()
	for key, w := range map[string]work{
		"example.com/records": func(context.Context, client.Object) (finalizer.Result, error) { return finalizer.Result{}, nil },
		"example.com/drain": func(_ context.Context, obj client.Object) (finalizer.Result, error) {
			d := obj.(*appsv1.Deployment)
			if drained {
				d.Status.Conditions = nil
				return finalizer.Result{StatusUpdated: true}, nil
			}
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: "Draining", Status: corev1.ConditionTrue}}
			return finalizer.Result{StatusUpdated: true}, busy
		},
	} {
		if err := finalizers.Register(key, w); err != nil {
			t.Fatal(err)
		}
	}

	labels := map[string]string{"app": "web"}
	none := int32(0)
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &none,
			Paused:   true,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}
	if err := c.Create(ctx, d); err != nil {
		t.Fatal(err)
	}
	// The deployment controller writes the status, too: a conflict is met as a reconciler meets it, by doing it again.
	reconcile := func() (*appsv1.Deployment, error) {
		for {
			var d appsv1.Deployment
			if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web"}, &d); err != nil {
				return nil, err
			}
			if err := finalize(ctx, c, finalizers, &d); !conflict(err) {
				return &d, err
			}
		}
	}

	if d, err = reconcile(); err != nil || len(d.Finalizers) != 2 {
		t.Fatalf("a living object has the keys %v, and error %v", d.Finalizers, err)
	}
	if err := c.Delete(ctx, d); err != nil {
		t.Fatal(err)
	}
	d, err = reconcile()
	if !errors.Is(err, busy) {
		t.Fatalf("error %v, want that of the finalizer", err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(d), d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"example.com/drain"}, d.Finalizers); diff != "" {
		t.Errorf("keys on the server (-want +got):\n%s", diff)
	}
	drained = true
	if _, err := reconcile(); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(d), d); !apierrors.IsNotFound(err) {
		t.Errorf("after the last finalizer the object is there, or the error is %v", err)
	}
}

// conflict says whether err is, or joins, a conflict: what apierrors.IsConflict does not see in joined errors.
func conflict(err error) bool {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			if conflict(e) {
				return true
			}
		}
		return false
	}
	return apierrors.IsConflict(err)
}
