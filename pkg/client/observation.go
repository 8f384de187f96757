package client

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// observation is what the observer wants to hear about one write.
type observation struct {
	observer  WriteObserver // nil if nobody is to be told
	wholeJSON bool
}

func (c *client) observation(gvk schema.GroupVersionKind, obj runtime.Object, dryRun []string, unobserved bool) observation {
	if c.observer == nil || len(dryRun) > 0 || unobserved {
		return observation{}
	}
	return observation{observer: c.observer, wholeJSON: c.observer.NeedsJSON(gvk, obj)}
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
