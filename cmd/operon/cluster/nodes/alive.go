package nodes

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/operon-dev/operon/pkg/client"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	leaseSeconds  = 40
	renewInterval = 10 * time.Second
	beatInterval  = 5 * time.Minute
	// silentInterval is how long a node that was silent takes at most to renew its lease again.
	silentInterval = time.Second
)

// keepAlive renews the leases of all machines, and now and then their heartbeats, until the context ends.
func keepAlive(ctx context.Context, c client.Client, machines []*machine, log logr.Logger) {
	var wg sync.WaitGroup
	for _, m := range machines {
		wg.Go(func() { m.keepAlive(ctx, c, log.WithValues("node", m.name)) })
	}
	wg.Wait()
}

func (m *machine) keepAlive(ctx context.Context, c client.Client, log logr.Logger) {
	var lease *coordinationv1.Lease
	beaten := time.Now()
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if m.silent.Load() {
			wait = silentInterval
			continue
		}
		next, err := m.renew(ctx, c, lease)
		if err == nil && time.Since(beaten) >= beatInterval {
			beaten = time.Now()
			err = m.heartbeat(ctx, c)
		}
		switch {
		case err == nil:
			// Spread, so that a thousand nodes do not renew in the same instant.
			wait = renewInterval - time.Duration(rand.Int64N(int64(renewInterval/4)))
		case ctx.Err() != nil:
			return
		default:
			log.V(1).Info("lease not renewed", "error", err.Error())
			wait = 200 * time.Millisecond
		}
		lease = next
	}
}

// renew renews the lease and returns it as it is now; nil means that it has to be looked up the next time. A node that is gone
// has no lease, and none is made for it.
func (m *machine) renew(ctx context.Context, c client.Client, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	now := metav1.NowMicro()
	if lease != nil {
		lease.Spec.RenewTime = &now
		err := c.Update(ctx, lease)
		if err == nil {
			return lease, nil
		}
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return nil, err
		}
	}
	node := &corev1.Node{}
	if err := c.Get(ctx, client.ObjectKey{Name: m.name}, node); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: m.name}}
	err := c.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	missing := err != nil
	lease.Spec.HolderIdentity = &m.name
	lease.Spec.LeaseDurationSeconds = new(int32(leaseSeconds))
	lease.Spec.RenewTime = &now
	lease.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}}
	if missing {
		err = c.Create(ctx, lease)
	} else {
		err = c.Update(ctx, lease)
	}
	if err != nil {
		return nil, err
	}
	return lease, nil
}

func (m *machine) heartbeat(ctx context.Context, c client.Client) error {
	node := &corev1.Node{}
	if err := c.Get(ctx, client.ObjectKey{Name: m.name}, node); err != nil {
		return client.IgnoreNotFound(err)
	}
	return m.patchStatus(ctx, c, node, func(st *corev1.NodeStatus) { beat(st, time.Now()) })
}
