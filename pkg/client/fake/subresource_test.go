package fake_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	autoscalingv1ac "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
)

func TestStatusAndTheRestAreWrittenApart(t *testing.T) {
	w := widget("w")
	w.Spec.Size, w.Status.Ready = 1, 1
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithStatusSubresource(&Widget{}).WithObjects(w).Build()
	w.Spec.Size, w.Status.Ready, w.Labels = 2, 2, map[string]string{"a": "b"}
	must(t, c.Status().Update(t.Context(), w))
	if w.Spec.Size != 1 || w.Status.Ready != 2 || w.Labels != nil {
		t.Errorf("after a status update: %+v", w)
	}
	w.Spec.Size, w.Status.Ready = 3, 3
	must(t, c.Update(t.Context(), w))
	if w.Spec.Size != 3 || w.Status.Ready != 2 {
		t.Errorf("after an update: %+v", w)
	}
	must(t, c.Patch(t.Context(), w, merge(`{"spec":{"size":4},"status":{"ready":4}}`)))
	must(t, c.Status().Patch(t.Context(), w, merge(`{"spec":{"size":5},"status":{"ready":5}}`)))
	if w.Spec.Size != 4 || w.Status.Ready != 5 {
		t.Errorf("after patches: %+v", w)
	}
	body := widget("")
	body.ResourceVersion, body.Status.Ready = w.ResourceVersion, 6
	must(t, c.Status().Update(t.Context(), widget("w"), client.WithSubResourceBody(body)))
	if got := get(t, c, widget("w")); got.Status.Ready != 6 {
		t.Errorf("after an update with a body: %+v", got)
	}
	body.ResourceVersion = "999"
	wantReason(t, c.Status().Update(t.Context(), widget("w"), client.WithSubResourceBody(body)), metav1.StatusReasonConflict)

	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Phase: corev1.NodeRunning}}
	must(t, c.Create(t.Context(), node))
	if node.Status.Phase == "" {
		t.Error("a kubelet creates its node with the status, and it was dropped")
	}
	created := widget("new")
	created.Status.Ready = 7
	must(t, c.Create(t.Context(), created))
	if got := get(t, c, created); got.Status.Ready != 7 {
		t.Errorf("an object created with a status has %+v", got.Status)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "d"}, Status: appsv1.DeploymentStatus{Replicas: 3}}
	must(t, c.Create(t.Context(), deployment))
	if got := get(t, c, deployment); got.Status.Replicas != 3 {
		t.Errorf("a deployment created with a status has %+v", got.Status)
	}
	applied := unstructuredOf(deploymentKind, "applied")
	applied.Object["status"] = map[string]any{"replicas": int64(3)}
	must(t, c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("me")))
	if status, found := applied.Object["status"].(map[string]any); found && len(status) > 0 {
		t.Errorf("an apply created the status %v", status)
	}
	var read Widget
	must(t, c.SubResource("status").Get(t.Context(), widget("w"), &read))
	if read.Status.Ready != 6 {
		t.Errorf("the status reads %+v", read)
	}
}

func TestKindsWithoutStatusSubresource(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(configMap("a", nil), widget("w")).Build()
	wantReason(t, c.Status().Update(t.Context(), configMap("a", nil)), metav1.StatusReasonNotFound)
	wantReason(t, c.Status().Patch(t.Context(), widget("w"), merge(`{}`)), metav1.StatusReasonNotFound)
	w := get(t, c, widget("w"))
	w.Status.Ready = 2
	must(t, c.Update(t.Context(), w))
	if got := get(t, c, widget("w")); got.Status.Ready != 2 {
		t.Errorf("a status that is a field like any other was not written: %+v", got)
	}
}

func TestScale(t *testing.T) {
	deployment := func() *appsv1.Deployment {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "d"}}
	}
	d := deployment()
	d.Spec.Replicas, d.Status.Replicas = ptr.To[int32](2), 1
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	rc := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "rc"}, Spec: corev1.ReplicationControllerSpec{Selector: map[string]string{"c": "d"}}}
	c := fake.NewClientBuilder().WithObjects(d, rc, configMap("a", nil)).Build()
	scales := c.SubResource("scale")

	var scale autoscalingv1.Scale
	must(t, scales.Get(t.Context(), deployment(), &scale))
	want := autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "d", ResourceVersion: "999"},
		Spec:       autoscalingv1.ScaleSpec{Replicas: 2},
		Status:     autoscalingv1.ScaleStatus{Replicas: 1, Selector: "a=b"},
	}
	if diff := cmp.Diff(want, scale); diff != "" {
		t.Errorf("scale (-want +got):\n%s", diff)
	}
	stale := scale.DeepCopy()
	scale.Spec.Replicas = 5
	must(t, scales.Update(t.Context(), deployment(), client.WithSubResourceBody(&scale)))
	if got := get(t, c, deployment()); *got.Spec.Replicas != 5 || got.ResourceVersion != scale.ResourceVersion {
		t.Errorf("after scaling: %d, version %s and %s", *got.Spec.Replicas, got.ResourceVersion, scale.ResourceVersion)
	}
	wantReason(t, scales.Update(t.Context(), deployment(), client.WithSubResourceBody(stale)), metav1.StatusReasonConflict)
	must(t, scales.Patch(t.Context(), deployment(), merge(`{"spec":{"replicas":0}}`), client.WithSubResourceBody(&scale)))
	if got := get(t, c, deployment()); *got.Spec.Replicas != 0 {
		t.Errorf("after scaling to zero: %d", *got.Spec.Replicas)
	}
	wantReason(t, scales.Patch(t.Context(), deployment(), merge(`{"spec":{"replicas":-1}}`), client.WithSubResourceBody(&scale)), metav1.StatusReasonInvalid)
	plain := get(t, c, deployment())
	more := plain.DeepCopy()
	more.Spec.Replicas = ptr.To[int32](4)
	must(t, scales.Patch(t.Context(), more, client.MergeFrom(plain)))
	if got := get(t, c, deployment()); *got.Spec.Replicas != 4 || *more.Spec.Replicas != 4 || got.ResourceVersion != more.ResourceVersion {
		t.Errorf("after a patch without a body: %d, version %s and %s", *got.Spec.Replicas, got.ResourceVersion, more.ResourceVersion)
	}
	wantReason(t, scales.Update(t.Context(), deployment()), metav1.StatusReasonBadRequest)
	wantReason(t, scales.Get(t.Context(), deployment(), pod("p")), metav1.StatusReasonBadRequest)
	err := scales.Get(t.Context(), configMap("a", nil), &scale)
	wantReason(t, err, metav1.StatusReasonNotFound)
	wantError(t, err, "*v1.ConfigMap has no scale subresource")
	must(t, scales.Get(t.Context(), rc, &scale))
	if scale.Status.Selector != "c=d" {
		t.Errorf("selector of a ReplicationController: %s", scale.Status.Selector)
	}
	u := unstructuredOf(autoscalingv1.SchemeGroupVersion.WithKind("Scale"), "")
	must(t, scales.Get(t.Context(), deployment(), u))
	if u.GetName() != "d" {
		t.Errorf("unstructured scale: %v", u.Object)
	}
}

func TestAnAppliedScaleTakesNothingFromNobody(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "d"}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)}}
	c := fake.NewClientBuilder().WithObjects(d).WithReturnManagedFields().Build()
	apply := func(replicas int32, by string) (*appsv1ac.DeploymentApplyConfiguration, error) {
		of := appsv1ac.Deployment("d", "ns")
		scale := autoscalingv1ac.Scale().WithSpec(autoscalingv1ac.ScaleSpec().WithReplicas(replicas))
		return of, c.SubResource("scale").Apply(t.Context(), of, &client.SubResourceApplyOptions{SubResourceBody: scale}, client.FieldOwner(by))
	}
	of, err := apply(3, "me")
	must(t, err)
	if got := get(t, c, d); *got.Spec.Replicas != 3 || *of.ResourceVersion != got.ResourceVersion {
		t.Errorf("%d replicas, version %s and %s", *got.Spec.Replicas, *of.ResourceVersion, got.ResourceVersion)
	}
	_, err = apply(4, "you")
	wantReason(t, err, metav1.StatusReasonConflict)
}

func TestScaleOfCustomResources(t *testing.T) {
	c := fake.NewClientBuilder().WithCRDs(gadgetCRD()).Build()
	g := unstructuredOf(gadgetKind, "g")
	g.Object["spec"] = map[string]any{"color": "red", "replicas": int64(1)}
	must(t, c.Create(t.Context(), g))
	must(t, c.Status().Patch(t.Context(), g, merge(`{"status":{"replicas":4,"selector":"x=y"}}`)))
	var scale autoscalingv1.Scale
	must(t, c.SubResource("scale").Patch(t.Context(), g, merge(`{"spec":{"replicas":3}}`), client.WithSubResourceBody(&scale)))
	if scale.Spec.Replicas != 3 || scale.Status.Replicas != 4 || scale.Status.Selector != "x=y" {
		t.Errorf("scale: %+v", scale)
	}
}

func TestEviction(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(pod("p"), configMap("a", nil)).Build()
	evictions := c.SubResource("eviction")
	wantReason(t, evictions.Create(t.Context(), pod("absent"), &policyv1.Eviction{}), metav1.StatusReasonNotFound)
	wantReason(t, evictions.Create(t.Context(), configMap("a", nil), &policyv1.Eviction{}), metav1.StatusReasonNotFound)
	wantReason(t, evictions.Create(t.Context(), pod("p"), pod("p")), metav1.StatusReasonBadRequest)
	wantReason(t, evictions.Create(t.Context(), pod("absent"), pod("p")), metav1.StatusReasonBadRequest)
	must(t, evictions.Create(t.Context(), pod("p"), &policyv1.Eviction{}, client.DryRunAll))
	must(t, evictions.Create(t.Context(), pod("p"), &policyv1beta1.Eviction{DeleteOptions: &metav1.DeleteOptions{DryRun: []string{"All"}}}))
	get(t, c, pod("p"))
	must(t, evictions.Create(t.Context(), pod("p"), &policyv1.Eviction{}))
	wantReason(t, c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "p"}, pod("p")), metav1.StatusReasonNotFound)
}

func TestBinding(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(pod("p")).Build()
	binding := &corev1.Binding{Target: corev1.ObjectReference{Name: "node"}}
	must(t, c.SubResource("binding").Create(t.Context(), pod("p"), binding))
	if got := get(t, c, pod("p")); got.Spec.NodeName != "node" {
		t.Errorf("bound to %q", got.Spec.NodeName)
	}
	wantReason(t, c.SubResource("binding").Create(t.Context(), pod("p"), binding), metav1.StatusReasonConflict)
	wantReason(t, c.SubResource("binding").Create(t.Context(), pod("p"), &corev1.Binding{}), metav1.StatusReasonInvalid)
}

func TestServiceAccountToken(t *testing.T) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "sa"}}
	c := fake.NewClientBuilder().WithObjects(account).Build()
	request := &authenticationv1.TokenRequest{}
	must(t, c.SubResource("token").Create(t.Context(), account, request))
	if request.Status.Token == "" || request.Status.ExpirationTimestamp.IsZero() {
		t.Errorf("token: %+v", request.Status)
	}
	absent := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "absent"}}
	wantReason(t, c.SubResource("token").Create(t.Context(), absent, request), metav1.StatusReasonNotFound)
	wantReason(t, c.SubResource("token").Create(t.Context(), pod("p"), request), metav1.StatusReasonNotFound)
}

func TestVerbsThatSubresourcesDoNotHave(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(pod("p")).Build()
	wantReason(t, c.Status().Create(t.Context(), pod("p"), pod("p")), metav1.StatusReasonMethodNotAllowed)
	wantReason(t, c.SubResource("eviction").Update(t.Context(), pod("p")), metav1.StatusReasonMethodNotAllowed)
	wantReason(t, c.SubResource("eviction").Get(t.Context(), pod("p"), pod("p")), metav1.StatusReasonMethodNotAllowed)
	wantReason(t, c.SubResource("nonsense").Update(t.Context(), pod("p")), metav1.StatusReasonNotFound)
	p := get(t, c, pod("p"))
	p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{}}
	must(t, c.SubResource("ephemeralcontainers").Update(t.Context(), p))
}
