package cache

import (
	"context"
	"fmt"
	"regexp"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

// fault is what keeps a feed from its work at present: the error of its last list and of its last watch.
type fault struct {
	list, watch atomic.Pointer[WatchError]
}

func (t *fault) of(verb string) *atomic.Pointer[WatchError] {
	if verb == "list" {
		return &t.list
	}
	return &t.watch
}

// WatchError says which list or watch of a cache is failing, and why. It is in the chain of the errors of those who wait for
// the resource (GetInformer, Get, List), and [WatchErrors] has those of the whole cache.
type WatchError struct {
	// Verb is what was refused or failed: "list" or "watch".
	Verb string
	// Resource is what was to be watched.
	Resource schema.GroupVersionResource
	// Namespace is where; empty means in all namespaces, or a resource without.
	Namespace string
	// Subject is who was refused, as the API server names it ("system:serviceaccount:ops:robot"). It is empty where it
	// was something else that failed.
	Subject string
	// Err is the API server's error, or the connection's.
	Err error

	times int // in a row that this was the answer
}

// Error implements error.
func (e *WatchError) Error() string {
	where := e.Resource.GroupResource().String()
	if e.Namespace != "" {
		where += " in namespace " + e.Namespace
	}
	return fmt.Sprintf("%s %s: %v", e.Verb, where, e.Err)
}

// Unwrap returns the API server's or the connection's error.
func (e *WatchError) Unwrap() error { return e.Err }

// Forbidden says whether access is denied, which only a change of the subject's rights can help.
func (e *WatchError) Forbidden() bool {
	return apierrors.IsForbidden(e.Err) || apierrors.IsUnauthorized(e.Err)
}

// quiet says that there is nothing to tell (yet): an API server that takes a moment to serve a resource, as it does right after
// the resource was defined, answers 429 until it has got ready.
func (e *WatchError) quiet() bool { return apierrors.IsTooManyRequests(e.Err) && e.times < patience }

// patience is how often in a row a feed is put off before that is worth a line.
const patience = 4

// WatchErrors are the lists and watches of a cache that fail at present, each of which is tried again until it works. From a
// Cache that is not this package's there are none.
func WatchErrors(c Cache) []*WatchError {
	r, ok := c.(interface{ watchErrors() []*WatchError })
	if !ok {
		return nil
	}
	return r.watchErrors()
}

func (c *stores) watchErrors() []*WatchError {
	var all []*WatchError
	for _, s := range c.all() {
		all = append(all, s.faults()...)
	}
	return all
}

// note remembers and logs how a request went. The same error again is logged at verbosity 1 only.
func (t *fault) note(ctx context.Context, f *feed, verb string, err error) {
	if err == nil {
		t.clear(ctx, verb)
		return
	}
	if ctx.Err() != nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	now := &WatchError{Verb: verb, Resource: f.store.gvr, Namespace: f.namespace, Err: err, times: 1}
	if now.Forbidden() {
		now.Subject = subjectOf(err)
	}
	old := t.of(verb).Load()
	logger := klog.FromContext(ctx)
	keys := []any{"verb", verb, "resource", f.store.gvr.GroupResource().String(), "version", f.store.gvr.Version, "namespace", f.namespace}
	if now.Subject != "" {
		keys = append(keys, "subject", now.Subject)
	}
	same := old != nil && apierrors.ReasonForError(old.Err) == apierrors.ReasonForError(err) && old.Err.Error() == err.Error()
	if same {
		now.times = old.times + 1
	}
	t.of(verb).Store(now)
	if now.quiet() || same && !old.quiet() {
		logger.V(1).Info("A resource still cannot be watched", append(keys, "err", err)...)
		return
	}
	if apierrors.IsForbidden(err) {
		logger.Error(err, "Not allowed to watch a resource: its readers wait until the subject is given the verb", keys...)
		return
	}
	logger.Error(err, "A resource cannot be watched at present: trying again", keys...)
}

// clear forgets a fault of the verb that works now.
func (t *fault) clear(ctx context.Context, verb string) {
	if old := t.of(verb).Swap(nil); old != nil && !old.quiet() {
		klog.FromContext(ctx).Info("The resource can be watched again", "verb", verb, "resource", old.Resource.GroupResource().String(), "namespace", old.Namespace)
	}
}

// err is the present fault, nil if there is none. A list that fails is the reason why nothing is there.
func (t *fault) err() *WatchError {
	if e := t.list.Load(); e != nil {
		return e
	}
	if e := t.watch.Load(); e != nil {
		return e
	}
	return nil
}

var userInMessage = regexp.MustCompile(`User "([^"]*)"`)

// subjectOf reads who was refused out of the API server's message, the only place where it is told.
func subjectOf(err error) string {
	if m := userInMessage.FindStringSubmatch(err.Error()); m != nil {
		return m[1]
	}
	return ""
}

// faults are what keeps the feeds of a store from their work.
func (s *store) faults() []*WatchError {
	var all []*WatchError
	for _, f := range s.feeds() {
		if err := f.fault.err(); err != nil {
			all = append(all, err)
		}
	}
	return all
}

// fault is faults in one error; nil if there are none.
func (s *store) fault() error {
	var all error
	for _, err := range s.faults() {
		if all == nil {
			all = err
		} else {
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}
