package client

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/watch"
)

// watchingClient adds Watch to a client, whatever wraps it.
type watchingClient struct {
	Client
	wire *wire
}

// Watch implements WithWatch.
func (c *watchingClient) Watch(ctx context.Context, list ObjectList, opts ...ListOption) (watch.Interface, error) {
	r, err := c.wire.resourceOfItems(ctx, list)
	if err != nil {
		return nil, err
	}
	options := (&ListOptions{}).ApplyOptions(opts)
	sent := options.AsListOptions()
	sent.Watch = true
	req, err := r.collectionRequest(http.MethodGet, options.Namespace, sent)
	if err != nil {
		return nil, about(r.gvk, ObjectKey{}, err)
	}
	w, err := req.SetHeader("Accept", r.accept(false)).Watch(ctx)
	return w, about(r.gvk, ObjectKey{}, err)
}
