package cache

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
)

// noContinue is the token of every list, as in controller-runtime. It leads to errContinue: who lists in pieces learns it the
// first time, not on the day when there is more than one piece.
const noContinue = "continue-not-supported"

var errContinue = errors.New("the cache cannot continue a list: leave out Limit and Continue to get all of it")

// Get implements client.Reader.
func (c *stores) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	p, f, err := c.placeOf(out)
	if err != nil {
		return err
	}
	var o client.GetOptions
	if len(opts) > 0 {
		o.ApplyOptions(opts)
	}
	obj, private, s, err := c.lookUp(ctx, p, f, key)
	if err != nil {
		return err
	}
	share := s.sharesWithReaders(obj.GetNamespace())
	if o.UnsafeDisableDeepCopy != nil {
		share = *o.UnsafeDisableDeepCopy
	}
	return copyInto(p.resource, obj, out, share || private)
}

// lookUp finds an object by its key. What it returns is shared, or the caller's own if it is private.
func (c *stores) lookUp(ctx context.Context, p *place, f form, key client.ObjectKey) (obj client.Object, private bool, _ *store, _ error) {
	s, err := c.readable(ctx, p, f)
	if err != nil {
		return nil, false, nil, err
	}
	key = p.key(key)
	e := s.get(key)
	if e == nil {
		if !s.covers(key.Namespace) {
			return nil, false, nil, fmt.Errorf("%s: %w", p.name(key), &ErrNamespaceNotCached{Namespace: key.Namespace})
		}
		// As in controller-runtime, a cached read names the kind where the API server names the resource: tests compare the text.
		return nil, false, nil, apierrors.NewNotFound(schema.GroupResource{Group: p.gvk.Group, Resource: p.gvk.Kind}, key.Name)
	}
	obj, err = e.view(p.resource, f)
	return obj, e.private(), s, err
}

// List implements client.Reader. The order of the objects is not defined. A list always has a continue token,
// and to ask for its continuation is an error: a cache does not list in pieces.
func (c *stores) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	p, f, err := c.placeOf(list)
	if err != nil {
		return err
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	found, s, err := c.search(ctx, p, f, &o)
	if err != nil {
		return err
	}
	share := s.sharesWithReaders(o.Namespace)
	if o.UnsafeDisableDeepCopy != nil {
		share = *o.UnsafeDisableDeepCopy
	}
	list.SetContinue(noContinue)
	return setItems(p.resource, f, list, found, share)
}

// search finds the entries that a List asks for.
func (c *stores) search(ctx context.Context, p *place, f form, o *client.ListOptions) ([]*entry, *store, error) {
	if o.Continue != "" {
		return nil, nil, errContinue
	}
	s, err := c.readable(ctx, p, f)
	if err != nil {
		return nil, nil, err
	}
	if p.namespaced && o.Namespace != metav1.NamespaceAll && !s.covers(o.Namespace) {
		return nil, nil, fmt.Errorf("list of %s: %w", p.gvk.Kind, &ErrNamespaceNotCached{Namespace: o.Namespace})
	}
	q := query{form: f, namespace: o.Namespace, limit: int(max(o.Limit, 0))}
	if o.LabelSelector != nil {
		reqs, selectable := o.LabelSelector.Requirements()
		if !selectable {
			return nil, s, nil
		}
		q.labels = reqs
	}
	if o.FieldSelector != nil {
		if matchesNothing(o.FieldSelector) {
			return nil, s, nil
		}
		q.fields = o.FieldSelector.Requirements()
	}
	found, err := s.find(q)
	return found, s, err
}
