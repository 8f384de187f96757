package nodes

import (
	"context"
	"fmt"
	"time"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
	corev1 "k8s.io/api/core/v1"
)

// healer is the controller that lets nodes be what their annotations say, and makes a node Ready again that was given up because the
// machine it runs on slept for a while, say.
type healer struct {
	client   client.Client
	machines map[string]*machine
}

func addNodeController(mgr manager.Manager, machines map[string]*machine) error {
	c, err := controller.New("simulated-nodes", mgr, controller.Options{
		Reconciler:         &healer{client: mgr.GetClient(), machines: machines},
		SkipNameValidation: new(true),
	})
	if err != nil {
		return err
	}
	return c.Watch(source.Kind(mgr.GetCache(), &corev1.Node{}, &handler.TypedEnqueueRequestForObject[*corev1.Node]{}))
}

// Reconcile restores the conditions of one node.
func (h *healer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	m := h.machines[req.Name]
	if m == nil {
		return reconcile.Result{}, nil
	}
	node := &corev1.Node{}
	if err := h.client.Get(ctx, req.NamespacedName, node); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	f := faultsOf(node)
	if f.unreachable {
		return reconcile.Result{}, nil
	}
	err := m.patchStatus(ctx, h.client, node, func(st *corev1.NodeStatus) { m.conditions(st, time.Now(), f.conditions) })
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("node %s: %w", m.name, err)
	}
	return reconcile.Result{}, nil
}
