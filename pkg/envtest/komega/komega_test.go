package komega_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest/komega"
)

// server is a client that keeps one deployment and answers from it.
type server struct {
	client.Client
	stored    *appsv1.Deployment
	conflicts int
	status    bool
	ctx       context.Context
}

var gone = apierrors.NewNotFound(schema.GroupResource{Resource: "deployments"}, "d")

func (s *server) Get(ctx context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	s.ctx = ctx
	if s.stored == nil || key.Name != s.stored.Name {
		return gone
	}
	s.stored.DeepCopyInto(obj.(*appsv1.Deployment))
	return nil
}

func (s *server) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*appsv1.DeploymentList).Items = []appsv1.Deployment{*s.stored.DeepCopy()}
	return nil
}

func (s *server) Update(_ context.Context, obj client.Object, _ ...client.UpdateOption) error {
	if s.conflicts > 0 {
		s.conflicts--
		s.stored.ResourceVersion += "1"
		return errors.New("conflict")
	}
	if obj.GetResourceVersion() != s.stored.ResourceVersion {
		return errors.New("written over a version that was not read")
	}
	s.stored = obj.(*appsv1.Deployment).DeepCopy()
	return nil
}

func (s *server) Status() client.SubResourceWriter { return statusOf{server: s} }

type statusOf struct {
	client.SubResourceWriter
	server *server
}

func (s statusOf) Update(ctx context.Context, obj client.Object, _ ...client.SubResourceUpdateOption) error {
	s.server.status = true
	return s.server.Update(ctx, obj)
}

func deployment() *appsv1.Deployment {
	replicas := int32(3)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: "d", Namespace: "n", UID: "u", ResourceVersion: "1",
			Labels:          map[string]string{"app": "d", "kubernetes.io/part-of": "all"},
			OwnerReferences: []metav1.OwnerReference{{Name: "first"}, {Name: "second"}},
		},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}},
	}
}

func TestFunctionsReadAnewAtEveryCall(t *testing.T) {
	g := gomega.NewWithT(t)
	s := &server{}
	k := komega.New(s)
	key := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "n"}}
	get, object := k.Get(key), k.Object(key)
	g.Expect(get()).To(gomega.MatchError(gone))
	s.stored = deployment()
	g.Expect(get()).To(gomega.Succeed())
	g.Expect(object()).To(gomega.HaveField("Spec.Replicas", gomega.HaveValue(gomega.BeEquivalentTo(3))))
	g.Expect(k.ObjectList(&appsv1.DeploymentList{})()).To(gomega.HaveField("Items", gomega.HaveLen(1)))
	g.Expect(k.List(&appsv1.DeploymentList{})()).To(gomega.Succeed())
	s.stored = nil
	g.Expect(k.Update(key, func() { t.Error("what is gone was changed") })()).To(gomega.MatchError(gone))
}

func TestAConflictIsOverAtTheNextCall(t *testing.T) {
	s := &server{stored: deployment(), conflicts: 1}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: "n"}}
	update := komega.New(s).Update(d, func() { d.Spec.Paused = true })
	if err := update(); err == nil {
		t.Error("the conflict is not told")
	}
	if err := update(); err != nil || !s.stored.Spec.Paused {
		t.Errorf("second call: %v, paused %t", err, s.stored.Spec.Paused)
	}
	if err := komega.New(s).UpdateStatus(d, func() { d.Status.Replicas = 7 })(); err != nil || !s.status || s.stored.Status.Replicas != 7 {
		t.Errorf("status: %v, %v", err, s.stored.Status)
	}
}

func TestThePackagesFunctionsUseWhatWasSet(t *testing.T) {
	t.Cleanup(func() {
		komega.SetClient(nil)
		komega.SetContext(context.Background())
	})
	func() {
		defer func() {
			if said := recover(); said == nil || !strings.Contains(said.(string), "SetClient") {
				t.Errorf("without a client: %v", said)
			}
		}()
		komega.Get(deployment())
	}()
	s := &server{stored: deployment()}
	komega.SetClient(s)
	type key struct{}
	komega.SetContext(context.WithValue(t.Context(), key{}, "mine"))
	if err := komega.Get(deployment())(); err != nil || s.ctx.Value(key{}) != "mine" {
		t.Errorf("%v, context %v", err, s.ctx)
	}
	d := deployment()
	if err := errors.Join(komega.Update(d, func() {})(), komega.UpdateStatus(d, func() {})(), komega.List(&appsv1.DeploymentList{})()); err != nil {
		t.Error(err)
	}
	if _, err := komega.Object(d)(); err != nil {
		t.Error(err)
	}
	if _, err := komega.ObjectList(&appsv1.DeploymentList{})(); err != nil {
		t.Error(err)
	}
}
