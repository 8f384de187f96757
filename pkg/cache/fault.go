package cache

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// fault is what keeps a feed from its work at present: the error of its last list and of its last watch.
type fault struct {
	list, watch atomic.Pointer[feedError]
}

func (t *fault) of(verb string) *atomic.Pointer[feedError] {
	if verb == "list" {
		return &t.list
	}
	return &t.watch
}

// feedError says which request of a feed fails, and why.
type feedError struct {
	verb, resource, namespace, subject string
	err                                error
	times                              int // in a row that this was the answer
}

// quiet says that there is nothing to tell (yet): an API server that takes a moment to serve a resource, as it does right after
// the resource was defined, answers 429 until it has got ready.
func (e *feedError) quiet() bool { return apierrors.IsTooManyRequests(e.err) && e.times < patience }

// patience is how often in a row a feed is put off before that is worth a line.
const patience = 4

// Error implements error.
func (e *feedError) Error() string {
	where := e.resource
	if e.namespace != "" {
		where += " in namespace " + e.namespace
	}
	return fmt.Sprintf("%s %s: %v", e.verb, where, e.err)
}

// Unwrap returns the API server's or the connection's error.
func (e *feedError) Unwrap() error { return e.err }

// note remembers and logs how a request went. The same error again is logged at verbosity 1 only.
func (t *fault) note(ctx context.Context, f *feed, verb string, err error) {
	if err == nil {
		t.clear(ctx, verb)
		return
	}
	if ctx.Err() != nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	now := &feedError{verb: verb, resource: f.store.gvr.GroupResource().String(), namespace: f.namespace, err: err, times: 1}
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		now.subject = subjectOf(err)
	}
	old := t.of(verb).Load()
	logger := klog.FromContext(ctx)
	keys := []any{"verb", verb, "resource", now.resource, "version", f.store.gvr.Version, "namespace", f.namespace}
	if now.subject != "" {
		keys = append(keys, "subject", now.subject)
	}
	same := old != nil && apierrors.ReasonForError(old.err) == apierrors.ReasonForError(err) && old.err.Error() == err.Error()
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
		klog.FromContext(ctx).Info("The resource can be watched again", "verb", verb, "resource", old.resource, "namespace", old.namespace)
	}
}

// err is the present fault, nil if there is none. A list that fails is the reason why nothing is there.
func (t *fault) err() error {
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

// fault is what keeps the feeds of a store from their work; nil if nothing does.
func (s *store) fault() error {
	var faults feedErrors
	for _, f := range s.feeds {
		if err := f.fault.err(); err != nil {
			faults = append(faults, err)
		}
	}
	switch len(faults) {
	case 0:
		return nil
	case 1:
		return faults[0]
	}
	return faults
}

// feedErrors are the faults of several feeds.
type feedErrors []error

// Error implements error.
func (e feedErrors) Error() string {
	parts := make([]string, len(e))
	for i := range e {
		parts[i] = e[i].Error()
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the faults.
func (e feedErrors) Unwrap() []error { return e }
