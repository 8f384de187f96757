package nodes

import (
	"context"
	"fmt"
	"time"

	"github.com/operon-dev/operon/pkg/client"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// register makes all machines known to the API server, Ready and free of taints. It goes on trying until the context ends.
func register(ctx context.Context, c client.Client, machines []*machine) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for _, m := range machines {
		g.Go(func() error { return insist(ctx, func() error { return m.register(ctx, c) }) })
	}
	return g.Wait()
}

// insist calls f until it succeeds or the context ends, at first in quick succession: what fails is usually a server that is just starting.
func insist(ctx context.Context, f func() error) error {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (last error: %w)", context.Cause(ctx), err)
		case <-time.After(wait):
		}
	}
}

func (m *machine) register(ctx context.Context, c client.Client) error {
	node := m.object(time.Now())
	err := c.Create(ctx, node)
	if apierrors.IsAlreadyExists(err) {
		err = c.Get(ctx, client.ObjectKeyFromObject(node), node)
		if err == nil {
			err = m.takeOver(ctx, c, node)
		}
	}
	if err == nil {
		// Admission taints every new node; the node lifecycle controller would take the taint away later.
		err = m.patch(ctx, c, node, untaint)
	}
	if err != nil {
		return fmt.Errorf("node %s: %w", m.name, err)
	}
	return nil
}

// takeOver brings a Node object of an earlier run up to date.
func (m *machine) takeOver(ctx context.Context, c client.Client, node *corev1.Node) error {
	// First what would make the status another one.
	if err := m.patch(ctx, c, node, func(node *corev1.Node) {
		m.label(node)
		mend(node)
	}); err != nil {
		return err
	}
	return m.patchStatus(ctx, c, node, func(st *corev1.NodeStatus) {
		now := time.Now()
		m.describe(st, now)
		beat(st, now)
	})
}

// patch writes what change changes in the node, if anything; the node becomes what the server answers.
func (m *machine) patch(ctx context.Context, c client.Client, node *corev1.Node, change func(*corev1.Node)) error {
	before := node.DeepCopy()
	change(node)
	if equality.Semantic.DeepEqual(before, node) {
		return nil
	}
	return c.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// patchStatus is patch for the status.
func (m *machine) patchStatus(ctx context.Context, c client.Client, node *corev1.Node, change func(*corev1.NodeStatus)) error {
	before := node.DeepCopy()
	change(&node.Status)
	if equality.Semantic.DeepEqual(before.Status, node.Status) {
		return nil
	}
	return c.Status().Patch(ctx, node, client.StrategicMergeFrom(before))
}

// retire removes the nodes of an earlier run that had more of them, with their pods: left to the pod garbage collector they would
// look alive for another minute.
func retire(ctx context.Context, c client.Client, machines map[string]*machine) error {
	var list corev1.NodeList
	if err := c.List(ctx, &list, client.HasLabels{simulatedLabel}); err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	for i := range list.Items {
		node := &list.Items[i]
		if machines[node.Name] != nil {
			continue
		}
		if err := c.Delete(ctx, node); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
		var pods corev1.PodList
		if err := c.List(ctx, &pods, client.MatchingFields{"spec.nodeName": node.Name}); err != nil {
			return fmt.Errorf("pods of node %s: %w", node.Name, err)
		}
		for j := range pods.Items {
			pod := &pods.Items[j]
			if err := c.Delete(ctx, pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID}); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
		}
	}
	return nil
}
