package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/cmd/operon/cluster/nodes/podlife"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// Each worker waits for the API server most of the time.
const podWorkers = 16

const conflictPause = 50 * time.Millisecond

// invalidSimulation is the reason of events about annotations that cannot be understood.
const invalidSimulation = "InvalidSimulation"

// pods is the controller that leads pods through their lives.
type pods struct {
	client   client.Client
	live     client.Reader // past the cache
	machines map[string]*machine
	options  Options
	teller   *teller

	admission sync.Mutex // taken before mu

	mu        sync.Mutex
	residents map[types.UID]*resident
}

// resident is what the nodes know of a pod that its object does not say.
type resident struct {
	machine *machine
	seen    time.Time
	// admitted says that a pod that no scheduler has seen fits; it is written and read under the mutex of pods.
	admitted bool

	// Of these the worker that has the pod is the only user.
	address  string // set aside, but perhaps not in the status yet
	starts   map[string]time.Time
	problems string // that were told
}

func addPodController(mgr manager.Manager, o Options, machines map[string]*machine, t *teller) error {
	p := &pods{client: mgr.GetClient(), live: mgr.GetAPIReader(), machines: machines, options: o, teller: t, residents: map[types.UID]*resident{}}
	c, err := controller.New("simulated-pods", mgr, controller.Options{
		Reconciler:              p,
		MaxConcurrentReconciles: podWorkers,
		SkipNameValidation:      new(true),
	})
	if err != nil {
		return err
	}
	if err := c.Watch(source.Kind(mgr.GetCache(), &corev1.Node{}, p.nodeHandler())); err != nil {
		return err
	}
	return c.Watch(source.Kind(mgr.GetCache(), &corev1.Pod{}, p.handler()))
}

// nodeHandler notes which nodes are silent, asks for work on the pods of those that are not any more, and tells what is wrong with annotations.
func (p *pods) nodeHandler() handler.TypedEventHandler[*corev1.Node, reconcile.Request] {
	return handler.TypedFuncs[*corev1.Node, reconcile.Request]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*corev1.Node], q queue) {
			p.seeNode(ctx, &corev1.Node{}, e.Object, q)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*corev1.Node], q queue) {
			p.seeNode(ctx, e.ObjectOld, e.ObjectNew, q)
		},
	}
}

func (p *pods) seeNode(ctx context.Context, old, node *corev1.Node, q queue) {
	m := p.machines[node.Name]
	if m == nil {
		return
	}
	f := faultsOf(node)
	was := m.silent.Swap(f.unreachable)
	if len(f.problems) > 0 && !slices.Equal(f.problems, faultsOf(old).problems) {
		p.teller.tellNode(node, podlife.Event{Type: corev1.EventTypeWarning, Reason: invalidSimulation, Message: strings.Join(f.problems, "; ")})
	}
	if f.unreachable || !was {
		return
	}
	var list corev1.PodList
	if err := p.client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		p.options.Logger.Error(err, "pods of a node that is back", "node", node.Name)
		return
	}
	for i := range list.Items {
		if pod := &list.Items[i]; pod.Spec.NodeName == node.Name {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pod)})
		}
	}
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// handler keeps the residents, and asks for work on pods that are ours. All pods of the first list are recorded, and their
// addresses with them, before the first worker starts.
func (p *pods) handler() handler.TypedEventHandler[*corev1.Pod, reconcile.Request] {
	see := func(pod *corev1.Pod, q queue) {
		if p.see(pod) {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pod)})
		}
	}
	return handler.TypedFuncs[*corev1.Pod, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*corev1.Pod], q queue) { see(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*corev1.Pod], q queue) {
			if e.ObjectOld.UID != e.ObjectNew.UID {
				p.forget(e.ObjectOld.UID)
			}
			see(e.ObjectNew, q)
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*corev1.Pod], _ queue) { p.forget(e.Object.UID) },
	}
}

// see records the pod if it is on one of our nodes, and says whether it is.
func (p *pods) see(pod *corev1.Pod) bool {
	m := p.machines[pod.Spec.NodeName]
	if m == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.residents[pod.UID]; known {
		return true
	}
	p.residents[pod.UID] = &resident{machine: m, seen: time.Now(), address: pod.Status.PodIP}
	if !over(pod) {
		m.addresses.claim(pod.Status.PodIP, pod.UID)
	}
	return true
}

func (p *pods) forget(uid types.UID) {
	p.mu.Lock()
	r := p.residents[uid]
	delete(p.residents, uid)
	p.mu.Unlock()
	if r != nil {
		r.machine.addresses.drop(uid)
	}
}

func (p *pods) resident(uid types.UID) *resident {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.residents[uid]
}

func over(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Reconcile takes one pod as far as it gets by now.
func (p *pods) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := p.client.Get(ctx, req.NamespacedName, pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	r := p.resident(pod.UID)
	if r == nil {
		return reconcile.Result{}, nil // deleted meanwhile
	}
	if r.machine.silent.Load() {
		return reconcile.Result{}, nil // looked at when the node is back
	}
	w := podlife.World{
		HostIP:     r.machine.hostIP,
		Seen:       r.seen,
		StartAfter: p.options.StartAfter,
		RunFor:     p.options.RunFor,
		Started:    func(id string) (time.Time, bool) { t, ok := r.starts[id]; return t, ok },
	}
	refusal, err := p.admit(ctx, pod, r)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("pod %s: %w", req, err)
	}
	w.Refused = refusal
	if refusal == nil && pod.Status.PodIP == "" && !pod.Spec.HostNetwork && pod.DeletionTimestamp == nil {
		if r.address == "" {
			address, ok := r.machine.addresses.take(pod.UID)
			if !ok {
				return reconcile.Result{}, fmt.Errorf("pod %s: all addresses of node %s are in use", req, r.machine.name)
			}
			r.address = address
		}
		w.PodIP = r.address
	}
	incomplete, err := p.missing(ctx, pod, &w)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("pod %s: %w", req, err)
	}

	now := time.Now()
	step := podlife.Next(pod, w, now)
	switch err := p.take(ctx, pod, step); {
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	case apierrors.IsConflict(err):
		// Another pod has the name now, or others write this one all the time: look again.
		return reconcile.Result{RequeueAfter: conflictPause}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("pod %s: %w", req, err)
	}
	p.remember(r, pod, step)

	var after time.Duration
	if !step.Wake.IsZero() {
		after = max(step.Wake.Sub(now), time.Millisecond)
	}
	if incomplete && (after == 0 || after > missingInterval) {
		after = missingInterval
	}
	return reconcile.Result{RequeueAfter: after}, nil
}

// take writes the step: the status if it is another than the pod's, and the end of a pod that is to go. Its errors are the API server's.
func (p *pods) take(ctx context.Context, pod *corev1.Pod, step podlife.Step) error {
	held := len(pod.Finalizers) > 0
	// Nobody is going to look at the last status of a pod that is gone in a moment, but those who hold it with a finalizer will.
	if (held || !step.Ended) && !equality.Semantic.DeepEqual(pod.Status, step.Status) {
		if err := p.writeStatus(ctx, pod, step.Status); err != nil {
			return err
		}
	}
	if !step.Ended || pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0 && held {
		return nil
	}
	return p.client.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
}

// writeStatus patches the status. The UID that the patch sets makes the API server refuse it for a pod of the same name that replaced
// this one; a strategic merge leaves conditions alone that it does not speak of.
func (p *pods) writeStatus(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	name := metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}
	was := &corev1.Pod{ObjectMeta: name, Status: pod.Status}
	is := &corev1.Pod{ObjectMeta: name, Status: status}
	is.UID = pod.UID
	return p.client.Status().Patch(ctx, is, client.StrategicMergeFrom(was))
}

// remember keeps what only this process knows, and tells what happened.
func (p *pods) remember(r *resident, pod *corev1.Pod, step podlife.Step) {
	if len(step.Started) > 0 && r.starts == nil {
		r.starts = map[string]time.Time{}
	}
	for id, t := range step.Started {
		r.starts[id] = t
	}
	if step.Status.Phase == corev1.PodSucceeded || step.Status.Phase == corev1.PodFailed {
		r.machine.addresses.drop(pod.UID)
		r.starts = nil
	}
	events := step.Events
	if text := strings.Join(step.Problems, "; "); text != r.problems {
		r.problems = text
		if text != "" {
			events = append(events, podlife.Event{Type: corev1.EventTypeWarning, Reason: invalidSimulation, Message: text})
		}
	}
	p.teller.tell(pod, r.machine.name, events)
}
