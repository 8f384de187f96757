package fake

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/operon-dev/operon/pkg/client"
)

// watching is a watch of one kind. Its events wait in the channel; what does not fit waits in a queue, and a goroutine that
// lives as long as there is a queue moves it along. A watch that nobody reads or stops costs no goroutine at first.
type watching struct {
	server   *server
	kind     *kind
	selector *selector
	like     runtime.Object

	result chan watch.Event
	done   chan struct{}
	// release ends the wait for the end of the context.
	release func() bool

	mu      sync.Mutex
	queue   []watch.Event
	moving  bool
	stopped bool
}

// buffered is how many events wait without a goroutine.
const buffered = 100

// watch opens a watch that begins as the options say.
func (s *server) watch(ctx context.Context, k *kind, like runtime.Object, o *client.ListOptions) (watch.Interface, error) {
	if t, ok := s.store.(*tracked); ok {
		return t.watch(ctx, s, k, like, o)
	}
	w := &watching{
		server: s, kind: k, like: like,
		result: make(chan watch.Event, buffered), done: make(chan struct{}),
		release: func() bool { return true },
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sel, err := s.selectorFor(k, o)
	if err != nil {
		return nil, err
	}
	w.selector = sel
	if err := w.begin(o.Raw); err != nil {
		return nil, err
	}
	s.watches[w] = struct{}{}
	if ctx != nil {
		w.release = context.AfterFunc(ctx, w.Stop)
	}
	return w, nil
}

// begin sends what lies between the resourceVersion that the caller knows and now: everything, if it knows none or asks for it. Where each
// object counts for itself, a caller that knows one is told what happens from now on.
func (w *watching) begin(raw *metav1.ListOptions) error {
	if raw == nil {
		raw = &metav1.ListOptions{}
	}
	if raw.SendInitialEvents != nil && *raw.SendInitialEvents {
		if err := w.showPresent(); err != nil || !raw.AllowWatchBookmarks {
			return err
		}
		return w.markEnd()
	}
	if version := raw.ResourceVersion; version != "" && version != "0" {
		sequence, err := strconv.ParseUint(version, 10, 64)
		if err != nil {
			return apierrors.NewBadRequest("invalid resource version " + strconv.Quote(version))
		}
		if !w.server.versions.global {
			return nil // it is the version of some object, and tells nothing about others
		}
		missed, ok := w.server.history.since(sequence, w.server.sequence)
		if !ok {
			return apierrors.NewResourceExpired("too old resource version: " + version)
		}
		for _, c := range missed {
			w.observe(c)
		}
		return nil
	}
	if raw.SendInitialEvents != nil {
		return nil
	}
	return w.showPresent()
}

// showPresent sends what there is.
func (w *watching) showPresent() error {
	present, err := w.server.store.list(w.kind, w.selector.namespace)
	if err != nil {
		return err
	}
	for _, e := range present {
		w.observe(change{typ: watch.Added, tracked: w.kind.tracked, after: e})
	}
	return nil
}

// markEnd sends the bookmark that tells that what there was has been sent. Reflectors of client-go wait for it.
func (w *watching) markEnd() error {
	fresh, err := newLike(w.like)
	if err != nil {
		return err
	}
	mark, ok := fresh.(client.Object)
	if !ok {
		return fmt.Errorf("%T cannot be watched: it has no metadata", w.like)
	}
	switch mark.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		mark.GetObjectKind().SetGroupVersionKind(w.kind.GroupVersionKind)
	}
	mark.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	mark.SetResourceVersion(w.server.listVersion())
	w.send(watch.Event{Type: watch.Bookmark, Object: mark})
	return nil
}

// observe sends what a change is to this watch. The server's lock is held.
func (w *watching) observe(c change) {
	if c.tracked != w.kind.tracked {
		return
	}
	was, err := w.selector.matches(c.before)
	if err != nil {
		w.fail(err)
		return
	}
	is, err := w.selector.matches(c.after)
	if err != nil {
		w.fail(err)
		return
	}
	typ, shown := c.typ, c.after
	switch {
	case !was && !is, typ == watch.Deleted && !was:
		return
	case typ == watch.Deleted:
	case !was:
		typ = watch.Added
	case !is:
		// What leaves the selection is shown as it last was in it.
		typ, shown = watch.Deleted, c.before
	}
	obj, err := w.server.view(w.kind, shown, w.like)
	if err != nil {
		w.fail(err)
		return
	}
	if shown != c.after {
		obj.(client.Object).SetResourceVersion(c.after.obj.GetResourceVersion())
	}
	w.send(watch.Event{Type: typ, Object: obj})
}

func (w *watching) fail(err error) {
	w.send(watch.Event{Type: watch.Error, Object: &metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Message: err.Error(), Code: http.StatusInternalServerError,
	}})
}

func (w *watching) send(event watch.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	if !w.moving {
		select {
		case w.result <- event:
			return
		default:
		}
		w.moving = true
		go w.move()
	}
	w.queue = append(w.queue, event)
}

// move sends the queue. It ends when the queue is empty or the watch is stopped, and then closes the channel if it is.
func (w *watching) move() {
	for {
		w.mu.Lock()
		if w.stopped || len(w.queue) == 0 {
			w.moving = false
			if w.stopped {
				close(w.result)
			}
			w.mu.Unlock()
			return
		}
		event := w.queue[0]
		w.queue = w.queue[1:]
		w.mu.Unlock()
		select {
		case w.result <- event:
		case <-w.done:
		}
	}
}

// ResultChan implements watch.Interface. The channel is closed when the watch is stopped or its context ends.
func (w *watching) ResultChan() <-chan watch.Event { return w.result }

// Stop implements watch.Interface. It can be called more than once.
func (w *watching) Stop() {
	w.server.mu.Lock()
	delete(w.server.watches, w)
	release := w.release
	w.server.mu.Unlock()
	release()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.stopped = true
	close(w.done)
	if !w.moving {
		close(w.result)
	}
}
