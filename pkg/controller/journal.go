package controller

import (
	"context"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// journal takes down what a reconciliation reads and writes: how many calls there are, and, if anybody wants to
// know, which. It is bounded, and closed when the reconciler has returned; what a goroutine that it left behind
// does after that is not taken down.
type journal struct {
	id       types.UID
	detailed bool
	calls    [client.NumVerbs]atomic.Int32

	mu      sync.Mutex
	closed  bool
	list    []reconcile.Access
	omitted int
}

var _ client.CallObserver = &journal{}

// ObserveCall implements client.CallObserver.
func (j *journal) ObserveCall(call client.Call) {
	j.calls[call.Verb].Add(1)
	if !j.detailed {
		return
	}
	is := reconcile.Access{
		Verb: call.Verb, Kind: call.Kind(), Subresource: call.Subresource, Key: call.Key(), Cached: call.Cached(),
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	known := j.find(is)
	if known == nil {
		if len(j.list) == reconcile.MaxAccesses {
			j.omitted++
			return
		}
		j.list = append(j.list, is)
		known = &j.list[len(j.list)-1]
	}
	known.Times++
	known.Objects += call.Objects()
	if call.Err != nil {
		known.Failed++
	}
}

// find returns the access that differs from is in nothing but how often.
func (j *journal) find(is reconcile.Access) *reconcile.Access {
	for i := range j.list {
		a := &j.list[i]
		if a.Verb == is.Verb && a.Key == is.Key && a.Kind == is.Kind && a.Subresource == is.Subresource && a.Cached == is.Cached {
			return a
		}
	}
	return nil
}

// accesses closes the journal and returns what is in it.
func (j *journal) accesses() (list []reconcile.Access, omitted int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	return j.list, j.omitted
}

func (j *journal) readsAndWrites() (reads, writes int) {
	for verb := range client.NumVerbs {
		n := int(j.calls[verb].Load())
		if verb.Writes() {
			writes += n
		} else {
			reads += n
		}
	}
	return reads, writes
}

type reconcileIDKey struct{}

// reconcileContext is the context of a reconciliation: it leads to the journal, and to the reconcileID.
type reconcileContext struct {
	context.Context
	journal *journal
}

// Value implements context.Context.
func (c reconcileContext) Value(key any) any {
	switch key.(type) {
	case reconcileIDKey:
		return c.journal.id
	case client.CallObserverKey:
		return c.journal
	}
	return c.Context.Value(key)
}
