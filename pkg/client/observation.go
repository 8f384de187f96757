package client

// This file holds how a write comes to the WriteObserver of writeobserver.go, whatever call it was.

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
)

// An observation is how the client tells the [WriteObserver] of its cache what became of one write: made before the request,
// because it may ask for another form of the answer, and told of the answer before the call returns. The zero observation is of
// a write that nobody is to be told of.
type observation struct {
	observer  WriteObserver
	wholeJSON bool // the observer needs the answer as JSON
}

// observed is who is to be told of a write with these options; nil for nobody.
func (c *client) observed(dryRun []string, unobserved bool) WriteObserver {
	if len(dryRun) > 0 || unobserved {
		return nil
	}
	return c.observer
}

func (c *client) observation(gvk schema.GroupVersionKind, obj runtime.Object, dryRun []string, unobserved bool) observation {
	observer := c.observed(dryRun, unobserved)
	if observer == nil {
		return observation{}
	}
	return observation{observer: observer, wholeJSON: observer.NeedsJSON(gvk, obj)}
}

// observation tells the observer of answers that hold the whole object, not of those that hold a body of another kind; for
// these there is lookBehind.
func (s *subResourceClient) observation(r *resource, c codec, body Object, dryRun []string, unobserved bool) observation {
	if c.gvk != r.gvk {
		return observation{}
	}
	return s.client.observation(c.gvk, body, dryRun, unobserved)
}

// lookBehind has the observer look at the object itself where the answer was of another kind. A token changes no object.
func (s *subResourceClient) lookBehind(ctx context.Context, gvk, answered schema.GroupVersionKind, key ObjectKey, err error, dryRun []string, unobserved bool) {
	if err != nil || answered == gvk || s.name == "token" {
		return
	}
	if o, ok := s.client.observed(dryRun, unobserved).(SubresourceObserver); ok {
		o.ObserveSubresource(ctx, gvk, key)
	}
}

// accept returns the Accept header that gets the answer the observer needs.
func (o observation) accept(c codec) string {
	if o.wholeJSON {
		return acceptJSON
	}
	return c.accept(false)
}

// wrote tells the observer of an object that has been decoded from a.
func (o observation) wrote(c codec, obj Object, a answer) {
	if o.observer == nil {
		return
	}
	w := Written{GVK: c.gvk, Object: obj}
	if c.form != metadataForm || o.wholeJSON {
		w.JSON = a.json()
	}
	o.observer.ObserveWrite(w)
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

// cannotTell logs why the observer could not be told of a deletion. The server has accepted it, and the watch will say so.
func (c *client) cannotTell(err error, gvk schema.GroupVersionKind, namespace string) {
	c.log.Error(err, "the cache could not be told at once of deleted objects", "kind", gvk.Kind, "namespace", namespace)
}
