package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/cluster"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

// world is the part of the cluster that the demo is about, kept up to date by watches.
type world struct {
	client.Client // reads what was watched
	key           client.ObjectKey
	changed       chan struct{} // has an element when something changed since it was last read
	cancel        context.CancelFunc
	ended         chan struct{}
}

// watchWorld returns once everything is being watched. The world must be stopped.
func watchWorld(ctx context.Context, cfg *rest.Config, key client.ObjectKey) (*world, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := cachev1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := cluster.New(cfg, func(o *cluster.Options) { o.Scheme = scheme })
	if err != nil {
		return nil, err
	}
	w := &world{Client: c.GetClient(), key: key, changed: make(chan struct{}, 1), ended: make(chan struct{})}
	var running context.Context
	running, w.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(w.ended)
		_ = c.Start(running) // only ever ends with the context
	}()

	changed := func(any) {
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
	for _, kind := range []client.Object{&cachev1alpha1.Memcached{}, &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &corev1.Pod{}, &corev1.Service{}} {
		informer, err := c.GetCache().GetInformer(ctx, kind)
		if err == nil {
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
				AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) }, DeleteFunc: changed,
			})
		}
		if err != nil {
			w.stop()
			return nil, fmt.Errorf("watch %T: %w", kind, err)
		}
	}
	return w, nil
}

func (w *world) stop() {
	w.cancel()
	<-w.ended
}

// snapshot is the world at one moment.
type snapshot struct {
	memcached   *cachev1alpha1.Memcached // nil when there is none
	deployments []appsv1.Deployment
	replicaSets []appsv1.ReplicaSet
	pods        []corev1.Pod // by age
	services    []corev1.Service
}

func (w *world) look(ctx context.Context) (snapshot, error) {
	var s snapshot
	memcached := &cachev1alpha1.Memcached{}
	switch err := w.Get(ctx, w.key, memcached); {
	case err == nil:
		s.memcached = memcached
	case !apierrors.IsNotFound(err):
		return s, err
	}
	var deployments appsv1.DeploymentList
	var replicaSets appsv1.ReplicaSetList
	var pods corev1.PodList
	var services corev1.ServiceList
	for _, list := range []client.ObjectList{&deployments, &replicaSets, &pods, &services} {
		ours := client.MatchingLabels{"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": w.key.Name}
		if err := w.List(ctx, list, client.InNamespace(w.key.Namespace), ours); err != nil {
			return s, err
		}
	}
	s.deployments, s.replicaSets, s.pods, s.services = deployments.Items, replicaSets.Items, pods.Items, services.Items
	slices.SortFunc(s.pods, func(a, b corev1.Pod) int {
		if older := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); older != 0 {
			return older
		}
		return strings.Compare(a.Name, b.Name)
	})
	return s, nil
}

// converged expects a Memcached of that size to be what its spec asks for, and its status to say so.
func converged(size int32) expectation {
	return func(now snapshot) string {
		m := now.memcached
		switch {
		case m == nil:
			return "there is no Memcached"
		case m.Spec.Size != size:
			return fmt.Sprintf("spec.size is %d, not %d", m.Spec.Size, size)
		case len(now.deployments) != 1 || len(now.services) != 1:
			return fmt.Sprintf("there are %d Deployments and %d Services, not one of each", len(now.deployments), len(now.services))
		case !metav1.IsControlledBy(&now.deployments[0], m) || !metav1.IsControlledBy(&now.services[0], m):
			return "the Deployment and the Service don't both belong to the Memcached"
		case len(now.pods) != int(size):
			return fmt.Sprintf("there are %d pods, not %d", len(now.pods), size)
		}
		var names []string
		for i := range now.pods {
			if !podReady(&now.pods[i]) {
				return fmt.Sprintf("pod %s is not ready", now.pods[i].Name)
			}
			names = append(names, now.pods[i].Name)
		}
		slices.Sort(names)
		switch {
		case !slices.Equal(m.Status.Nodes, names):
			return fmt.Sprintf("status.nodes is [%s], not [%s]", strings.Join(m.Status.Nodes, " "), strings.Join(names, " "))
		case !isTrue(m, cachev1alpha1.ConditionAvailable):
			return "condition Available is not true of what is asked for now"
		case isTrue(m, cachev1alpha1.ConditionProgressing):
			return "condition Progressing is still true"
		case isTrue(m, cachev1alpha1.ConditionDegraded):
			return "condition Degraded is true"
		case m.Status.ReadyReplicas != size:
			return fmt.Sprintf("status.readyReplicas is %d, not %d", m.Status.ReadyReplicas, size)
		}
		return ""
	}
}

// gone expects that nothing is left of a Memcached.
func gone(now snapshot) string {
	var left []string
	count := func(n int, kind string) {
		if n > 0 {
			left = append(left, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if now.memcached != nil {
		left = append(left, "the Memcached")
	}
	count(len(now.deployments), "Deployments")
	count(len(now.replicaSets), "ReplicaSets")
	count(len(now.pods), "pods")
	count(len(now.services), "Services")
	if left == nil {
		return ""
	}
	return "still there: " + strings.Join(left, ", ")
}

func isTrue(m *cachev1alpha1.Memcached, condition string) bool {
	c := meta.FindStatusCondition(m.Status.Conditions, condition)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == m.Generation
}

func podReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue && pod.DeletionTimestamp.IsZero()
		}
	}
	return false
}
