package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
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

// deletion is what can be read from the answer to a deletion: a status, or the object.
type deletion struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		UID               types.UID    `json:"uid"`
		DeletionTimestamp *metav1.Time `json:"deletionTimestamp"`
	} `json:"metadata"`
	Details *metav1.StatusDetails `json:"details"`
}

func (d *deletion) isStatus() bool {
	gvk := d.GroupVersionKind()
	return isStatus(&gvk)
}

// marked tells whether the object may still be there, waiting for finalizers or for its grace period.
func (d *deletion) marked() bool { return d.Metadata.DeletionTimestamp != nil }

// deleted tells the observer what the server has made of a request to delete obj.
func (o observation) deleted(c codec, key ObjectKey, obj Object, a answer) error {
	var d deletion
	if a.json() == nil || utiljson.Unmarshal(a.body, &d) != nil {
		// Who cannot be told now learns of it from the watch.
		return nil
	}
	switch {
	case d.isStatus():
		if d.Details != nil && d.Details.UID != "" {
			o.observer.ObserveDelete(c.gvk, key, d.Details.UID)
		}
		return nil
	case !d.marked():
		o.observer.ObserveDelete(c.gvk, key, d.Metadata.UID)
		return nil
	default:
		return o.wroteJSON(c, obj, a.body)
	}
}

// wroteJSON tells the observer of an object that is there as JSON, in the form of like.
func (o observation) wroteJSON(c codec, like Object, encoded []byte) error {
	fresh, err := newLike(like)
	if err != nil {
		return err
	}
	if _, err := c.decode(answer{body: encoded, mediaType: runtime.ContentTypeJSON}, fresh); err != nil {
		return err
	}
	obj, ok := fresh.(Object)
	if !ok {
		return fmt.Errorf("%T has no metadata", fresh)
	}
	if c.form == metadataForm {
		obj.GetObjectKind().SetGroupVersionKind(c.gvk)
	}
	o.observer.ObserveWrite(Written{GVK: c.gvk, Object: obj, JSON: encoded})
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

// cannotTell logs why the cache could not be told of a deletion. The server has accepted it, and the watch will say so.
func (c *client) cannotTell(err error, gvk schema.GroupVersionKind, namespace string) {
	c.log.Error(err, "the cache could not be told at once of deleted objects", "kind", gvk.Kind, "namespace", namespace)
}

// items is a list whose items are still encoded.
type items struct {
	Items []json.RawMessage `json:"items"`
}

// deletedAll tells the observer what has become of the objects that a lists. It holds them as they were before they were
// deleted, so that those which are still there have to be listed again.
func (o observation) deletedAll(ctx context.Context, r *resource, obj Object, a answer, options *DeleteAllOfOptions) error {
	var before items
	if a.json() == nil {
		return nil
	}
	if err := utiljson.Unmarshal(a.body, &before); err != nil || len(before.Items) == 0 {
		return err
	}
	list := options.AsListOptions()
	list.Limit, list.Continue = 0, ""
	req, err := r.collectionRequest(http.MethodGet, options.Namespace, list)
	if err != nil {
		return err
	}
	now, err := answerOf(req.SetHeader("Accept", acceptJSON).Do(ctx))
	if err != nil {
		return err
	}
	var after items
	if err := utiljson.Unmarshal(now.body, &after); err != nil {
		return err
	}
	there := map[types.UID]bool{}
	for _, item := range after.Items {
		var m metav1.PartialObjectMetadata
		if err := utiljson.Unmarshal(item, &m); err != nil {
			return err
		}
		there[m.UID] = true
		if err := o.wroteJSON(r.codec, obj, withKind(r.codec, m.TypeMeta, item)); err != nil {
			return err
		}
	}
	for _, item := range before.Items {
		var m metav1.PartialObjectMetadata
		if err := utiljson.Unmarshal(item, &m); err != nil {
			return err
		}
		if !there[m.UID] {
			o.observer.ObserveDelete(r.gvk, ObjectKeyFromObject(&m), m.UID)
		}
	}
	return nil
}

// withKind returns an encoded item of a list as the object is encoded on its own: in lists, servers leave out the kind.
func withKind(c codec, has metav1.TypeMeta, item []byte) []byte {
	if has.Kind != "" {
		return item
	}
	apiVersion, kind := c.gvk.ToAPIVersionAndKind()
	head := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, apiVersion, kind)
	return append([]byte(head), bytes.TrimPrefix(bytes.TrimSpace(item), []byte("{"))...)
}
