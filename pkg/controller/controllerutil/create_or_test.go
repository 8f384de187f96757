package controllerutil_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller/controllerutil"
	"github.com/operon-dev/operon/pkg/envtest"
)

// recorder is a client that has one deployment, or none, and records what is written.
type recorder struct {
	client.Client
	has    *appsv1.Deployment
	fails  error
	writes []string
}

func (r *recorder) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	if r.has == nil {
		return apierrors.NewNotFound(schema.GroupResource{}, obj.GetName())
	}
	*obj.(*appsv1.Deployment) = *r.has.DeepCopy()
	return nil
}

func (r *recorder) Create(context.Context, client.Object, ...client.CreateOption) error {
	r.writes = append(r.writes, "create")
	return r.fails
}

func (r *recorder) Update(context.Context, client.Object, ...client.UpdateOption) error {
	r.writes = append(r.writes, "update")
	return r.fails
}

func (r *recorder) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	data, err := patch.Data(obj)
	r.writes = append(r.writes, "patch "+string(data))
	// The answer has the status as it was.
	obj.(*appsv1.Deployment).Status = r.has.Status
	return errors.Join(r.fails, err)
}

func (r *recorder) Status() client.SubResourceWriter { return statusRecorder{r: r} }

type statusRecorder struct {
	client.SubResourceWriter
	r *recorder
}

func (s statusRecorder) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	data, err := patch.Data(obj)
	s.r.writes = append(s.r.writes, "status "+string(data))
	return errors.Join(s.r.fails, err)
}

func TestCreateOrDoesOnlyWhatIsNeeded(t *testing.T) {
	failure := errors.New("refused")
	there := deployment("n", "d")
	there.Status.Replicas = 1
	label := func(d *appsv1.Deployment) { d.Labels = map[string]string{"a": "b"} }
	status := func(d *appsv1.Deployment) { d.Status.Replicas = 2 }
	for name, test := range map[string]struct {
		do     func(context.Context, client.Client, client.Object, controllerutil.MutateFn) (controllerutil.OperationResult, error)
		has    *appsv1.Deployment
		mutate func(*appsv1.Deployment)
		fails  error
		result controllerutil.OperationResult
		writes []string
	}{
		"update, not there":       {controllerutil.CreateOrUpdate, nil, label, nil, "created", []string{"create"}},
		"update, not to be made":  {controllerutil.CreateOrUpdate, nil, label, failure, "unchanged", []string{"create"}},
		"update, changed":         {controllerutil.CreateOrUpdate, there, label, nil, "updated", []string{"update"}},
		"update, refused":         {controllerutil.CreateOrUpdate, there, label, failure, "unchanged", []string{"update"}},
		"update, unchanged":       {controllerutil.CreateOrUpdate, there, func(*appsv1.Deployment) {}, nil, "unchanged", nil},
		"update, nothing to do":   {controllerutil.CreateOrUpdate, there, nil, nil, "unchanged", nil},
		"patch, not there":        {controllerutil.CreateOrPatch, nil, label, nil, "created", []string{"create"}},
		"patch, changed":          {controllerutil.CreateOrPatch, there, label, nil, "updated", []string{`patch {"metadata":{"labels":{"a":"b"}}}`}},
		"patch, refused":          {controllerutil.CreateOrPatch, there, label, failure, "unchanged", []string{`patch {"metadata":{"labels":{"a":"b"}}}`}},
		"patch, unchanged":        {controllerutil.CreateOrPatch, there, func(*appsv1.Deployment) {}, nil, "unchanged", nil},
		"patch, status":           {controllerutil.CreateOrPatch, there, status, nil, "updatedStatusOnly", []string{`status {"status":{"replicas":2}}`}},
		"patch, status taken out": {controllerutil.CreateOrPatch, there, func(d *appsv1.Deployment) { d.Status.Replicas = 0 }, nil, "updatedStatusOnly", []string{`status {"status":{"replicas":null}}`}},
		"patch, both": {controllerutil.CreateOrPatch, there, func(d *appsv1.Deployment) { label(d); status(d) }, nil, "updatedStatus",
			[]string{`patch {"metadata":{"labels":{"a":"b"}},"status":{"replicas":2}}`, `status {"status":{"replicas":2}}`}},
	} {
		c := &recorder{has: test.has, fails: test.fails}
		obj := deployment("n", "d")
		var f controllerutil.MutateFn
		if test.mutate != nil {
			f = func() error { test.mutate(obj); return nil }
		}
		result, err := test.do(t.Context(), c, obj, f)
		if !errors.Is(err, test.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if result != test.result {
			t.Errorf("%s: %s, want %s", name, result, test.result)
		}
		if diff := cmp.Diff(test.writes, c.writes); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestAMutateFnThatGoesWrongWritesNothing(t *testing.T) {
	failure := errors.New("cannot")
	for _, has := range []*appsv1.Deployment{nil, deployment("n", "d")} {
		for _, do := range []func(context.Context, client.Client, client.Object, controllerutil.MutateFn) (controllerutil.OperationResult, error){
			controllerutil.CreateOrUpdate, controllerutil.CreateOrPatch,
		} {
			c, obj := &recorder{has: has}, deployment("n", "d")
			if _, err := do(t.Context(), c, obj, func() error { return failure }); !errors.Is(err, failure) {
				t.Errorf("got %v", err)
			}
			_, err := do(t.Context(), c, obj, func() error { obj.Name = "e"; return nil })
			if err == nil || !strings.Contains(err.Error(), "n/e") {
				t.Errorf("a MutateFn that changes the name: %v", err)
			}
			if len(c.writes) != 0 {
				t.Errorf("wrote %v", c.writes)
			}
		}
	}
}

func TestCreateOrOnARealServer(t *testing.T) {
	if os.Getenv("OPERON") == "" {
		t.Skip("needs a real API server: set OPERON to the path of the operon binary")
	}
	env := &envtest.Environment{}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}()
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}}
	for i, want := range []controllerutil.OperationResult{"created", "unchanged", "updated"} {
		got, err := controllerutil.CreateOrUpdate(t.Context(), c, cm, func() error {
			cm.Data = map[string]string{"round": string(rune('0' + i/2))}
			return nil
		})
		if err != nil || got != want {
			t.Errorf("round %d: %s, %v, want %s", i, got, err, want)
		}
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "patched"}}
	for i, want := range []controllerutil.OperationResult{"created", "updatedStatus", "unchanged"} {
		got, err := controllerutil.CreateOrPatch(t.Context(), c, ns, func() error {
			if i > 0 {
				ns.Labels["a"] = "b"
				ns.Status.Conditions = []corev1.NamespaceCondition{{Type: "Tested", Status: corev1.ConditionTrue}}
			}
			return nil
		})
		if err != nil || got != want {
			t.Errorf("round %d: %s, %v, want %s", i, got, err, want)
		}
	}
}
