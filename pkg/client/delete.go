package client

import (
	"context"
	"encoding/json"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// Delete implements Writer.
func (c *client) Delete(ctx context.Context, obj Object, opts ...DeleteOption) error {
	r, err := c.wire.resourceOf(ctx, obj)
	if err != nil {
		return err
	}
	options := (&DeleteOptions{}).ApplyOptions(opts)
	return about(r.gvk, ObjectKeyFromObject(obj), c.delete(ctx, r, obj, options))
}

func (c *client) delete(ctx context.Context, r *resource, obj Object, options *DeleteOptions) error {
	sent := options.AsDeleteOptions()
	at := placeOf(obj)
	req, err := r.request(http.MethodDelete, at, nil)
	if err != nil {
		return err
	}
	a, err := sendDelete(ctx, req, sent)
	if err != nil {
		return err
	}
	if seen := c.observation(r.gvk, obj, sent.DryRun, options.DisableReadYourWritesConsistency); seen.observer != nil {
		if !r.namespaced {
			at.namespace = ""
		}
		if err := seen.deleted(r.codec, at.key(), obj, a); err != nil {
			c.cannotTell(err, r.gvk, at.namespace)
		}
	}
	return nil
}

// DeleteAllOf implements Writer.
func (c *client) DeleteAllOf(ctx context.Context, obj Object, opts ...DeleteAllOfOption) error {
	r, err := c.wire.resourceOf(ctx, obj)
	if err != nil {
		return err
	}
	options := (&DeleteAllOfOptions{}).ApplyOptions(opts)
	return about(r.gvk, ObjectKey{}, c.deleteAllOf(ctx, r, obj, options))
}

func (c *client) deleteAllOf(ctx context.Context, r *resource, obj Object, options *DeleteAllOfOptions) error {
	sent := options.AsDeleteOptions()
	req, err := r.collectionRequest(http.MethodDelete, options.Namespace, options.AsListOptions())
	if err != nil {
		return err
	}
	a, err := sendDelete(ctx, req, sent)
	if err != nil {
		return err
	}
	if seen := c.observation(r.gvk, obj, sent.DryRun, options.DeleteOptions.DisableReadYourWritesConsistency); seen.observer != nil {
		if err := seen.deletedAll(ctx, r, obj, a, options); err != nil {
			c.cannotTell(err, r.gvk, options.Namespace)
		}
	}
	return nil
}

// sendDelete sends the options of a deletion in the body: there are some that have no place in a query.
func sendDelete(ctx context.Context, req *rest.Request, options *metav1.DeleteOptions) (answer, error) {
	body := *options
	body.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	encoded, err := json.Marshal(&body)
	if err != nil {
		return answer{}, err
	}
	return answerOf(req.SetHeader("Content-Type", runtime.ContentTypeJSON).SetHeader("Accept", acceptJSON).Body(encoded).Do(ctx))
}
