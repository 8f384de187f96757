package reconcile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

func TestTerminalErrorIsFoundAndUnwrapped(t *testing.T) {
	err := fmt.Errorf("outer: %w", TerminalError(fmt.Errorf("inner: %w", io.EOF)))
	if !errors.Is(err, TerminalError(nil)) {
		t.Error("a wrapped TerminalError is not recognised")
	}
	if !errors.Is(err, io.EOF) {
		t.Error("the error within is not recognised")
	}
	if got, want := err.Error(), "outer: terminal error: inner: EOF"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if errors.Is(errors.New("plain"), TerminalError(nil)) {
		t.Error("any error counts as terminal")
	}
	if got, want := TerminalError(nil).Error(), "terminal error without a cause"; got != want {
		t.Errorf("Error() without an error within = %q, want %q", got, want)
	}
}

func TestResultIsZero(t *testing.T) {
	priority := 0
	tests := map[string]struct {
		r    *Result
		want bool
	}{
		"nil":          {nil, true},
		"empty":        {&Result{}, true},
		"RequeueAfter": {&Result{RequeueAfter: time.Second}, false},
		"Requeue":      {&Result{Requeue: true}, false},
		"Priority":     {&Result{Priority: &priority}, false},
	}
	for name, tt := range tests {
		if got := tt.r.IsZero(); got != tt.want {
			t.Errorf("%s: IsZero() = %v", name, got)
		}
	}
}

type fakeClient struct {
	client.Client
	err error
}

func (c fakeClient) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	obj.SetName(key.Name)
	obj.SetNamespace(key.Namespace)
	return c.err
}

type podReconciler struct{ got *corev1.Pod }

func (r *podReconciler) Reconcile(_ context.Context, pod *corev1.Pod) (Result, error) {
	r.got = pod
	return Result{RequeueAfter: time.Minute}, io.ErrUnexpectedEOF
}

func TestAsReconciler(t *testing.T) {
	request := Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "web"}}
	tests := map[string]struct {
		get        error
		wantCalled bool
		wantErr    error
	}{
		"an object is handed over, and the answer passed on": {nil, true, io.ErrUnexpectedEOF},
		"an object that is gone is done with":                {apierrors.NewNotFound(schema.GroupResource{}, "web"), false, nil},
		"another error is passed on":                         {io.EOF, false, io.EOF},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &podReconciler{}
			result, err := AsReconciler(fakeClient{err: tt.get}, r).Reconcile(t.Context(), request)
			if !errors.Is(err, tt.wantErr) {
				t.Errorf("err = %v, want %v", err, tt.wantErr)
			}
			if called := r.got != nil; called != tt.wantCalled || called != (result.RequeueAfter == time.Minute) {
				t.Fatalf("called: %v, result %v", called, result)
			}
			if r.got != nil && client.ObjectKeyFromObject(r.got) != request.NamespacedName {
				t.Errorf("got %v", r.got)
			}
		})
	}
}
