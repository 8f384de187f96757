package finalizer_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/finalizer"
)

// work is a Finalizer made of a function.
type work func(context.Context, client.Object) (finalizer.Result, error)

func (w work) Finalize(ctx context.Context, obj client.Object) (finalizer.Result, error) {
	return w(ctx, obj)
}

func pod(deleting bool, keys ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Finalizers: keys}}
	if deleting {
		now := metav1.Now()
		p.DeletionTimestamp = &now
	}
	return p
}

func TestFinalizeDoesTheWorkOfTheKeysThatAreThere(t *testing.T) {
	errB := errors.New("b is stuck")
	type answer struct {
		res finalizer.Result
		err error
	}
	for name, tc := range map[string]struct {
		obj     *corev1.Pod
		answers map[string]answer
		ran     []string
		keys    []string
		res     finalizer.Result
		err     string
	}{
		"a living object gets all keys and no work is done": {
			obj:  pod(false, "foreign", "b"),
			keys: []string{"foreign", "b", "c", "a"},
			res:  finalizer.Result{Updated: true},
		},
		"a living object is changed by any key it lacks": {
			obj:  pod(false, "a"),
			keys: []string{"a", "c", "b"},
			res:  finalizer.Result{Updated: true},
		},
		"a living object that has all keys is left alone": {
			obj:  pod(false, "a", "b", "c"),
			keys: []string{"a", "b", "c"},
		},
		"a dying object loses its keys in the order of registration": {
			obj:  pod(true, "a", "foreign", "b", "c"),
			ran:  []string{"c", "b", "a"},
			keys: []string{"foreign"},
			res:  finalizer.Result{Updated: true},
		},
		"a dying object gets no key, and no work for keys it has not": {
			obj:  pod(true, "foreign"),
			keys: []string{"foreign"},
		},
		"a key stays when its work fails, and the others go": {
			obj:     pod(true, "a", "b", "c"),
			answers: map[string]answer{"b": {err: errB}},
			ran:     []string{"c", "b", "a"},
			keys:    []string{"b"},
			res:     finalizer.Result{Updated: true},
			err:     `*v1.Pod default/web: finalizer "b": b is stuck`,
		},
		"failed work alone changes nothing": {
			obj:     pod(true, "b"),
			answers: map[string]answer{"b": {err: errB}},
			ran:     []string{"b"},
			keys:    []string{"b"},
			err:     `*v1.Pod default/web: finalizer "b": b is stuck`,
		},
		"the result counts even with an error": {
			obj:     pod(true, "b"),
			answers: map[string]answer{"b": {res: finalizer.Result{Updated: true, StatusUpdated: true}, err: errB}},
			ran:     []string{"b"},
			keys:    []string{"b"},
			res:     finalizer.Result{Updated: true, StatusUpdated: true},
			err:     `*v1.Pod default/web: finalizer "b": b is stuck`,
		},
		"one changed status makes the status changed": {
			obj:     pod(true, "a", "c"),
			answers: map[string]answer{"c": {res: finalizer.Result{StatusUpdated: true}}},
			ran:     []string{"c", "a"},
			res:     finalizer.Result{Updated: true, StatusUpdated: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var ran []string
			finalizers := finalizer.NewFinalizers()
			for _, key := range []string{"c", "b", "a"} {
				if err := finalizers.Register(key, work(func(_ context.Context, obj client.Object) (finalizer.Result, error) {
					if obj != client.Object(tc.obj) {
						t.Errorf("%s got another object", key)
					}
					ran = append(ran, key)
					return tc.answers[key].res, tc.answers[key].err
				})); err != nil {
					t.Fatal(err)
				}
			}
			res, err := finalizers.Finalize(t.Context(), tc.obj)
			if res != tc.res {
				t.Errorf("result %+v, want %+v", res, tc.res)
			}
			if diff := cmp.Diff(tc.ran, ran); diff != "" {
				t.Errorf("ran (-want +got):\n%s", diff)
			}
			keys := tc.obj.Finalizers
			if len(keys) == 0 {
				keys = nil
			}
			if diff := cmp.Diff(tc.keys, keys); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || err.Error() != tc.err || !errors.Is(err, errB)) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

func TestFinalizeFindsAllErrors(t *testing.T) {
	errA, errB := errors.New("a"), errors.New("b")
	finalizers := finalizer.NewFinalizers()
	for key, err := range map[string]error{"a": errA, "b": errB} {
		if err := finalizers.Register(key, work(func(context.Context, client.Object) (finalizer.Result, error) {
			return finalizer.Result{}, err
		})); err != nil {
			t.Fatal(err)
		}
	}
	u := &unstructured.Unstructured{}
	u.SetKind("Node")
	u.SetName("n1")
	now := metav1.Now()
	u.SetDeletionTimestamp(&now)
	u.SetFinalizers([]string{"a"})
	_, err := finalizers.Finalize(t.Context(), u)
	if want := `Node n1: finalizer "a": a`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	_, err = finalizers.Finalize(t.Context(), pod(true, "a", "b"))
	if !errors.Is(err, errA) || !errors.Is(err, errB) {
		t.Errorf("error %v is not both", err)
	}
}

func TestFinalizeRemovesTheKeysOfDoneWorkFromAnObjectReadAfresh(t *testing.T) {
	finalizers := finalizer.NewFinalizers()
	if err := finalizers.Register("a", work(func(context.Context, client.Object) (finalizer.Result, error) {
		return finalizer.Result{}, nil
	})); err != nil {
		t.Fatal(err)
	}
	if err := finalizers.Register("b", work(func(_ context.Context, obj client.Object) (finalizer.Result, error) {
		obj.SetFinalizers([]string{"a", "b"})
		return finalizer.Result{}, errors.New("not yet")
	})); err != nil {
		t.Fatal(err)
	}
	obj := pod(true, "a", "b")
	if _, err := finalizers.Finalize(t.Context(), obj); err == nil {
		t.Error("no error")
	}
	if diff := cmp.Diff([]string{"b"}, obj.Finalizers); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestRegisterRefusesWhatCannotWork(t *testing.T) {
	first, second := 0, 0
	finalizers := finalizer.NewFinalizers()
	count := func(n *int) work {
		return func(context.Context, client.Object) (finalizer.Result, error) { *n++; return finalizer.Result{}, nil }
	}
	if err := finalizers.Register("a", count(&first)); err != nil {
		t.Fatal(err)
	}
	if err := finalizers.Register("a", count(&second)); err == nil {
		t.Error("a key was registered twice")
	}
	if err := finalizers.Register("b", nil); err == nil {
		t.Error("nothing was registered")
	}
	if _, err := finalizers.Finalize(t.Context(), pod(true, "a", "b")); err != nil {
		t.Fatal(err)
	}
	if first != 1 || second != 0 {
		t.Errorf("the first ran %d times, the refused one %d times", first, second)
	}
}

func TestFinalizersCanBeUsedByManyAtOnce(t *testing.T) {
	finalizers := finalizer.NewFinalizers()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			key := fmt.Sprintf("key-%d", i)
			if err := finalizers.Register(key, work(func(context.Context, client.Object) (finalizer.Result, error) {
				return finalizer.Result{}, nil
			})); err != nil {
				t.Error(err)
			}
			obj := pod(true, key)
			if _, err := finalizers.Finalize(t.Context(), obj); err != nil || len(obj.Finalizers) > 0 {
				t.Errorf("%s: %v, left %v", key, err, obj.Finalizers)
			}
		})
	}
	all.Wait()
}
