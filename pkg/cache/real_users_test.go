package cache_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
)

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after a minute", what)
		}
	}
}

// The sources of two controllers use one watch; it ends with the second of them (controller-runtime's #1884, #2983), and
// there is one for all forms (its #977, #1660).
func testWatchesEnd(t *testing.T, cfg *rest.Config) {
	c, _, count := cached(t, cfg, cache.Options{})
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	var stops []context.CancelFunc
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	for _, obj := range []client.Object{&corev1.ServiceAccount{}, m} {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		stops = append(stops, stop)
		s := source.Kind(c, obj, handler.TypedEventHandler[client.Object, reconcile.Request](&handler.EnqueueRequestForObject{}))
		if err := s.Start(ctx, queue); err != nil {
			t.Fatal(err)
		}
		if err := s.WaitForSync(ctx); err != nil {
			t.Fatal(err)
		}
		if err := c.List(ctx, &corev1.ServiceAccountList{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := count.watches.Load(); n != 1 {
		t.Errorf("%d watches were opened", n)
	}
	stops[0]()
	if err := c.List(t.Context(), &corev1.ServiceAccountList{}); err != nil || count.open.Load() != 1 {
		t.Errorf("with one left: %d watches, %v", count.open.Load(), err)
	}
	stops[1]()
	await(t, "the end of the watch", func() bool { return count.open.Load() == 0 })
}

// The answers to these writes are not the objects that they change.
func testSubresources(t *testing.T, cfg *rest.Config) {
	ctx := t.Context()
	_, w, _ := cached(t, cfg, cache.Options{})
	set := map[string]string{"app": "web"}
	pod := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: set}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: set}, Template: pod},
	}
	held := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "held", Finalizers: []string{"example.com/held"}}, Spec: pod.Spec}
	free := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "free"}, Spec: pod.Spec}
	for _, obj := range []client.Object{deployment, held, free} {
		if err := w.Create(ctx, obj); err != nil {
			t.Fatal(err)
		}
		if err := w.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Fatal(err)
		}
	}
	for n := range int32(20) {
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: n}}
		if err := w.SubResource("scale").Update(ctx, deployment, client.WithSubResourceBody(scale)); err != nil {
			t.Fatal(err)
		}
		if err := w.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil || *deployment.Spec.Replicas != n {
			t.Fatalf("scaled to %d, read %d: %v", n, *deployment.Spec.Replicas, err)
		}
	}
	for _, p := range []*corev1.Pod{held, free} {
		if err := w.SubResource("eviction").Create(ctx, p, &policyv1.Eviction{}); err != nil {
			t.Fatal(err)
		}
		err := w.Get(ctx, client.ObjectKeyFromObject(p), p)
		if p == held && (err != nil || p.DeletionTimestamp == nil) || p == free && !apierrors.IsNotFound(err) {
			t.Errorf("%s after its eviction: deletion %v, %v", p.Name, p.DeletionTimestamp, err)
		}
	}
}

// controller-runtime's #1590.
func testNamespaces(t *testing.T, cfg *rest.Config) {
	ctx := t.Context()
	c, w, count := cached(t, cfg, cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {}}})
	key := client.ObjectKey{Namespace: "later", Name: "one"}
	for _, obj := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}},
	} {
		if err := w.Create(ctx, obj); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.List(ctx, &corev1.ConfigMapList{}); err != nil {
		t.Fatal(err)
	}
	if err := cache.AddNamespace(ctx, c, key.Namespace, cache.Config{}); err != nil {
		t.Fatal(err)
	}
	cm := &corev1.ConfigMap{}
	if err := w.Get(ctx, key, cm); err != nil {
		t.Error(err)
	}
	cm.Data = map[string]string{"own": "write"}
	if err := w.Update(ctx, cm); err != nil {
		t.Fatal(err)
	}
	if err := w.Get(ctx, key, cm); err != nil || cm.Data["own"] != "write" {
		t.Errorf("%v, %v", cm.Data, err)
	}
	if err := cache.RemoveNamespace(c, key.Namespace); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of the watch", func() bool { return count.open.Load() == 1 })
	if err := w.Get(ctx, key, cm); err == nil {
		t.Error("a namespace that is gone is read")
	}
}

// controller-runtime's #1179 and #2456.
func testLateCRD(t *testing.T, cfg *rest.Config) {
	ctx := t.Context()
	c, w, _ := cached(t, cfg, cache.Options{})
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	crd := gadgets()
	crd.Name, crd.Spec.Names = "latecomers.cache.operon.dev", apiextensionsv1.CustomResourceDefinitionNames{
		Plural: "latecomers", Singular: "latecomer", Kind: "Latecomer", ListKind: "LatecomerList",
	}
	late := &unstructured.Unstructured{}
	late.SetGroupVersionKind(gadgetKind.GroupVersion().WithKind("Latecomer"))
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	seen := make(chan time.Time, 10)
	s := source.Kind[client.Object](c, late, handler.TypedFuncs[client.Object, reconcile.Request]{
		CreateFunc: func(context.Context, event.TypedCreateEvent[client.Object], workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			seen <- time.Now()
		},
	})
	running, stop := context.WithCancel(ctx)
	defer stop()
	if err := s.Start(running, queue); err != nil {
		t.Fatal(err)
	}
	// The pauses between two looks have grown to their longest by then.
	time.Sleep(1200 * time.Millisecond)
	if _, _, others := informerOf(t, c, &corev1.ConfigMap{}); others == 0 {
		t.Error("another resource waits for the one that is not there")
	}
	if err := admin.Create(ctx, crd); err != nil {
		t.Fatal(err)
	}
	obj := late.DeepCopy()
	obj.SetNamespace("default")
	obj.SetName("one")
	await(t, "the CRD", func() bool { return w.Create(ctx, obj) == nil })
	arrived := time.Now()
	select {
	case at := <-seen:
		t.Logf("its first event %v after the API server took it", at.Sub(arrived))
		// Within a second, on a machine that has nothing else to do.
		if d := at.Sub(arrived); d > 10*time.Second {
			t.Errorf("picked up after %v", d)
		}
	case <-time.After(time.Minute):
		t.Error("not picked up")
	}
}

// informerOf adds a handler and counts what it hears of at first.
func informerOf(t *testing.T, c cache.Cache, obj client.Object) (cache.Informer, toolscache.ResourceEventHandlerRegistration, int) {
	t.Helper()
	i, err := c.GetInformer(t.Context(), obj)
	if err != nil {
		t.Fatal(err)
	}
	heard := 0
	reg, err := i.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) { heard++ }})
	if err != nil {
		t.Fatal(err)
	}
	<-reg.HasSyncedChecker().Done()
	return i, reg, heard
}
