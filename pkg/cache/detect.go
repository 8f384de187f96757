package cache

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
)

// mutationVariable is the environment variable that has mutations looked for where Options.OnMutation is not set.
const mutationVariable = "KUBE_CACHE_MUTATION_DETECTOR"

// Mutation says that somebody wrote into an object that a cache shares with all its readers: one that was lent ([Lend],
// [All]), handed to an event handler or an index function, or read with UnsafeDisableDeepCopy.
type Mutation struct {
	// GVK is the kind of the object.
	GVK schema.GroupVersionKind
	// Key is its namespace and name.
	Key client.ObjectKey
	// ResourceVersion is the version that was written into.
	ResourceVersion string
	// Fields are the paths of the fields that are no longer what they were, as in "spec.containers[0].image", with the
	// names that JSON has for them. At most ten are given.
	Fields []string
	// During names the event handler whose call had just returned when the mutation was found; empty when it was found
	// by a look at all objects. The handler need not be the one that wrote.
	During string
}

// String says what happened and what to do.
func (m Mutation) String() string {
	r := resource{gvk: m.GVK}
	during := ""
	if m.During != "" {
		during = " (found after a call of " + m.During + ")"
	}
	return fmt.Sprintf("%s at resourceVersion %s: somebody wrote into %s of the cached object%s: readers share it and must change a DeepCopy instead",
		r.name(m.Key), m.ResourceVersion, strings.Join(m.Fields, ", "), during)
}

// detector finds out that somebody has written into an object that was handed out: it keeps a copy of each and compares.
//
// It reads objects that a wrongdoer writes at the same time: under the race detector this shows as a race, with the line
// that wrote.
type detector struct {
	report func(Mutation)

	mu    sync.Mutex
	loans map[*loan]struct{}
}

const (
	detectorPeriod = time.Second
	// memoryOfLoans is how long an object is looked at after another version has taken its place.
	memoryOfLoans = 30 * time.Second
)

// newDetector is the detector that the options ask for; nil if they do not.
func newDetector(report func(Mutation)) *detector {
	if report == nil {
		if on, err := strconv.ParseBool(os.Getenv(mutationVariable)); err != nil || !on {
			return nil
		}
		report = func(m Mutation) { panic(m.String()) }
	}
	return &detector{report: report, loans: map[*loan]struct{}{}}
}

// run looks at all loans from time to time until ctx ends.
func (d *detector) run(ctx context.Context) {
	ticker := time.NewTicker(detectorPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			d.checkAll(now)
		}
	}
}

func (d *detector) checkAll(now time.Time) {
	d.mu.Lock()
	loans := make([]*loan, 0, len(d.loans))
	for l := range d.loans {
		loans = append(loans, l)
	}
	d.mu.Unlock()
	for _, l := range loans {
		d.check(l, "")
		if l.expired(now) {
			d.forget(l)
		}
	}
}

// check reports a loan that was written into, once.
func (d *detector) check(l *loan, during string) {
	fields := differences(l.original, l.obj)
	if len(fields) == 0 || !d.forget(l) {
		return
	}
	d.report(Mutation{
		GVK: l.store.gvk, Key: l.key, ResourceVersion: l.entry.meta.ResourceVersion, Fields: fields, During: during,
	})
}

// forget says whether the loan was still watched over.
func (d *detector) forget(l *loan) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, known := d.loans[l]
	delete(d.loans, l)
	return known
}

func (d *detector) remember(l *loan) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loans[l] = struct{}{}
}

// loan is an object that was handed out, as it is and as it was.
type loan struct {
	store         *store
	entry         *entry
	key           client.ObjectKey
	obj, original client.Object

	replaced time.Time // when the entry was first seen not to be in its store; used by checkAll alone
}

func (l *loan) expired(now time.Time) bool {
	switch {
	case l.store.get(l.key) == l.entry && !l.store.stopped.isOpen():
		return false
	case l.replaced.IsZero():
		l.replaced = now
	}
	return now.Sub(l.replaced) > memoryOfLoans
}

// guard is what makes the views of one entry loans. It makes views that have nothing in common, so that a mutation
// is found in the object that was written into and in no other.
type guard struct {
	detector *detector
	store    *store

	mu    sync.Mutex
	loans [numForms]*loan
}

func (g *guard) view(r *resource, e *entry, f form) (client.Object, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.loans[f]; l != nil {
		return l.obj, nil
	}
	obj := e.obj
	if f != e.form {
		if obj = e.derived.Load().views[f]; obj == nil {
			derived, err := e.derive(r, f)
			if err != nil {
				return nil, err
			}
			obj = derived.DeepCopyObject().(client.Object)
		}
	}
	l := &loan{
		store: g.store, entry: e, key: client.ObjectKey{Namespace: e.meta.Namespace, Name: e.meta.Name},
		obj: obj, original: obj.DeepCopyObject().(client.Object),
	}
	g.loans[f] = l
	g.detector.remember(l)
	return obj, nil
}

// check looks at what was handed out of an entry.
func (g *guard) check(during string) {
	g.mu.Lock()
	loans := g.loans
	g.mu.Unlock()
	for _, l := range loans {
		if l != nil {
			g.detector.check(l, during)
		}
	}
}

// guarded has a detector watch over what is handed out of an entry that is not published yet.
func (e *entry) guarded(s *store) {
	next := &derived{guard: &guard{detector: s.detector, store: s}}
	if old := e.derived.Load(); old != nil {
		next.views = old.views
	}
	e.direct = numForms
	e.derived.Store(next)
}

// checkAfter looks at what a handler has just been told.
func (s *store) checkAfter(handler any, n notice) {
	for _, e := range []*entry{n.old, n.now} {
		if e == nil {
			continue
		}
		if d := e.derived.Load(); d != nil && d.guard != nil {
			d.guard.check(fmt.Sprintf("%T", handler))
		}
	}
}
