package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"

	"github.com/operon-dev/operon/cmd/operon/cluster/apiserver"
	"github.com/operon-dev/operon/cmd/operon/cluster/etcd"
)

const (
	// catchUpTimeout bounds how long Reset waits for the API server to notice.
	catchUpTimeout = 10 * time.Second
	// Controllers that were at work when the state was restored may write once more.
	resetRounds = 5
	resetPause  = 3 * time.Millisecond
	// roundTimeout is how long a round waits for the API server before it looks at the store again.
	roundTimeout = 200 * time.Millisecond

	crdKeys = apiserver.StorePrefix + "apiextensions.k8s.io/customresourcedefinitions/"
)

// resettable leaves alone what the components keep for themselves and renew all the time.
var resettable = etcd.Scope{
	Prefix: apiserver.StorePrefix,
	Ignored: []string{
		apiserver.StorePrefix + "leases/kube-node-lease/",
		apiserver.StorePrefix + "leases/kube-system/apiserver-",
		apiserver.StorePrefix + "masterleases/",
		apiserver.StorePrefix + "peerserverleases/",
	},
	// The API server makes these from the CustomResourceDefinitions, and writes their status.
	Volatile: []string{apiserver.StorePrefix + "apiregistration.k8s.io/apiservices/"},
}

// Mark remembers the cluster's present state for Reset.
func (c *Cluster) Mark(ctx context.Context) (*etcd.Mark, error) { return c.store.Mark(ctx, resettable) }

// Reset makes the cluster's objects what they were at the mark: it deletes what was created, restores what was changed or deleted, with
// names, UIDs and all, and asks neither finalizers nor webhooks. It works on the store, so it takes milliseconds where
// requests would take seconds. When it returns, reads show the marked state and the API server admits and authorizes by it.
//
// Reset and Mark are for a cluster at rest: what is written while they run may be in or out.
func (c *Cluster) Reset(ctx context.Context, mark *etcd.Mark) error {
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	pending := map[string]etcd.Change{}
	for round := 0; ; round++ {
		changes, err := c.store.Restore(ctx, mark)
		if err != nil {
			return err
		}
		maps.Copy(pending, changes)
		if len(changes) == 0 && len(pending) == 0 {
			return nil
		}
		// A deletion that was under way can still take away what was restored, and is undone in the next round.
		err = c.noticedSoon(ctx, mark, pending)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("the API server did not notice that its state was restored: %w", err)
		}
		if err == nil {
			clear(pending)
			if round >= resetRounds {
				return nil
			}
		}
		if c.opts.APIOnly {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(resetPause):
		}
	}
}

// noticedSoon is noticed for one round.
func (c *Cluster) noticedSoon(ctx context.Context, mark *etcd.Mark, changes map[string]etcd.Change) error {
	ctx, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	return c.noticed(ctx, mark, changes)
}

// noticed waits until the API server knows of the changes.
func (c *Cluster) noticed(ctx context.Context, mark *etcd.Mark, changes map[string]etcd.Change) error {
	for key, change := range changes {
		if err := c.api.CaughtUp(ctx, key, change.Deleted, change.Revision); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	for key, change := range changes {
		name, isCRD := strings.CutPrefix(key, crdKeys)
		if !isCRD {
			continue
		}
		if err := c.servesAsMarked(ctx, name, mark.Value(key), change.Deleted); err != nil {
			return fmt.Errorf("CustomResourceDefinition %s: %w", name, err)
		}
	}
	return nil
}

// servesAsMarked waits until discovery shows what a definition, now restored or gone, makes it show.
func (c *Cluster) servesAsMarked(ctx context.Context, name string, stored []byte, deleted bool) error {
	client, err := kubernetes.NewForConfig(c.api.Loopback())
	if err != nil {
		return err
	}
	plural, group, _ := strings.Cut(name, ".")
	var want []string
	if !deleted {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := json.Unmarshal(stored, &crd); err != nil {
			return err
		}
		if !slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
			return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
		}) {
			return nil
		}
		for _, v := range crd.Spec.Versions {
			if v.Served {
				want = append(want, group+"/"+v.Name)
			}
		}
	}
	slices.Sort(want)
	for {
		got, err := served(client.Discovery(), group, plural)
		if err == nil && slices.Equal(got, want) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// served lists the group versions that have the resource, in order.
func served(client discovery.DiscoveryInterface, group, plural string) ([]string, error) {
	groups, err := client.ServerGroups()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, g := range groups.Groups {
		if g.Name != group {
			continue
		}
		for _, v := range g.Versions {
			list, err := client.ServerResourcesForGroupVersion(v.GroupVersion)
			if apierrors.IsNotFound(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == plural }) {
				found = append(found, v.GroupVersion)
			}
		}
	}
	slices.Sort(found)
	return found, nil
}
