package leaderelection

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/klog/v2"
)

// The first and the longest pause before a lease is watched anew.
const (
	shortestPause = time.Second
	longestPause  = time.Minute
)

// NotifyReleased watches a lease and calls released each time when nobody holds it: its holder has given it back, or it has
// been deleted. It returns when ctx ends. Where the lease cannot be watched, since the subject is not given the verb, released
// is not called; that is tried again once a minute, and logged at verbosity 1.
//
// A candidate who is told asks for the lock at once, and not at its next try some seconds later.
func NotifyReleased(ctx context.Context, leases coordinationv1client.LeaseInterface, name string, released func()) {
	pause := shortestPause
	for {
		begun := time.Now()
		err := watchReleases(ctx, leases, name, released)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			klog.FromContext(ctx).V(1).Info("The lease of the leader cannot be watched: whether it is free shows at the next try", "lease", name, "err", err)
		}
		if time.Since(begun) > longestPause {
			pause = shortestPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, longestPause)
	}
}

// watchReleases is NotifyReleased for one watch.
func watchReleases(ctx context.Context, leases coordinationv1client.LeaseInterface, name string, released func()) error {
	w, err := leases.Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()})
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-w.ResultChan():
			if !ok {
				return nil
			}
			lease, ok := event.Object.(*coordinationv1.Lease)
			if !ok || lease.Name != name {
				continue
			}
			if event.Type == watch.Deleted || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
				released()
			}
		}
	}
}
