package cache

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/pkg/client"
)

// lookBackTimeout bounds what a write through a subresource waits for the cache to look at the object.
const lookBackTimeout = 10 * time.Second

// ObserveSubresource implements client.SubresourceObserver: the answer does not tell what became of the object, so one that
// is cached is read back. When that fails, the watch brings it.
func (c *stores) ObserveSubresource(ctx context.Context, gvk schema.GroupVersionKind, key client.ObjectKey) {
	s := c.storeOf(gvk)
	if s == nil {
		return
	}
	key = s.key(key)
	cur := s.get(key)
	if cur == nil {
		return // nobody reads it here, or the watch will bring it
	}
	ctx, cancel := context.WithTimeout(ctx, lookBackTimeout)
	defer cancel()
	if err := s.lookBack(ctx, c.driver.open, key, cur); err != nil {
		klog.FromContext(ctx).V(1).Info("An object could not be read back after a write to its subresource", "kind", gvk.Kind, "object", klog.KRef(key.Namespace, key.Name), "err", err)
	}
}

// lookBack reads an object, of which cur is known, by the request that brings all others: a list, of one name.
func (s *store) lookBack(ctx context.Context, open opener, key client.ObjectKey, cur *entry) error {
	src, err := open(s.resource, s.currentPlan().base)
	if err != nil {
		return err
	}
	list, err := src.list(ctx, key.Namespace, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(fieldName, key.Name).String()})
	if err != nil {
		return err
	}
	found := false
	err = meta.EachListItem(list, func(item runtime.Object) error {
		if obj, ok := item.(client.Object); ok && obj.GetName() == key.Name {
			found = true
			for w := (client.Written{GVK: s.gvk, Object: obj}); !s.observe(s.currentPlan(), w); {
			}
		}
		return nil
	})
	if err == nil && !found {
		s.deleted(key, cur.meta.UID, cur.rv)
	}
	return err
}
