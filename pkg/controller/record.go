package controller

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// outcome is how a reconciliation ended, as the metrics tell it.
type outcome uint8

const (
	succeeded outcome = iota
	failed
	requeued
	requeuedAfter
	outcomes
)

func (o outcome) String() string {
	return [outcomes]string{"success", "error", "requeue", "requeue_after"}[o]
}

// record is one reconciliation, while it goes on and when it is over. Logs, metrics and the Record of OnReconciled
// are made of it.
type record struct {
	journal
	logger   logr.Logger
	origin   priorityqueue.Origin
	started  time.Time
	took     time.Duration
	result   reconcile.Result
	err      error
	timedOut bool
	panicked bool
}

func (r *record) outcome() outcome {
	switch {
	case r.err != nil:
		return failed
	case r.result.RequeueAfter > 0:
		return requeuedAfter
	case asksAgain(r.result):
		return requeued
	}
	return succeeded
}

func asksAgain(r reconcile.Result) bool {
	//lint:ignore SA1019 reconcilers may still use what is deprecated
	return r.Requeue
}

func (r *record) trigger() reconcile.Trigger {
	if r.origin.Trigger == nil {
		return reconcile.Trigger{}
	}
	return *r.origin.Trigger
}

// terminal says whether the reconciliation ended with an error that is not to be retried.
func (r *record) terminal() bool {
	return errors.Is(r.err, reconcile.TerminalError(nil))
}

// nextPriority is the one with which the request is queued again.
func (r *record) nextPriority() *int {
	if r.result.Priority != nil {
		return r.result.Priority
	}
	return &r.origin.Priority
}

func (m *instruments) observe(r *record) {
	m.outcomes[r.outcome()].Inc()
	m.causes[r.trigger().Cause].Inc()
	m.seconds.Observe(r.took.Seconds())
	for verb := range r.calls {
		if n := r.calls[verb].Load(); n > 0 {
			m.calls[verb].Add(float64(n))
		}
	}
	if r.timedOut {
		m.timeouts.Inc()
	}
	if r.err == nil {
		return
	}
	m.errors.Inc()
	if r.terminal() {
		m.terminal.Inc()
	}
}

func (r *record) log() {
	if r.err != nil {
		r.logger.Error(r.err, "Reconciler error", "duration", r.took, "trigger", r.trigger().String(),
			"terminal", r.terminal(), "timedOut", r.timedOut)
		if asksAgain(r.result) || r.result.RequeueAfter > 0 {
			r.logger.Info("Reconciler returned an error and a result: the result is ignored", "requeueAfter", r.result.RequeueAfter)
		}
	}
	if !r.detailed {
		return
	}
	if detail := r.logger.V(detailVerbosity); detail.Enabled() {
		reads, writes := r.readsAndWrites()
		list, _ := r.accesses()
		accesses := make([]string, len(list))
		for i, a := range list {
			accesses[i] = a.String()
		}
		detail.Info("Reconciled", "duration", r.took, "trigger", r.trigger().String(), "merged", r.origin.Merged,
			"waited", r.origin.Waited, "priority", r.origin.Priority, "reads", reads, "writes", writes, "accesses", accesses,
			"outcome", r.outcome().String(), "requeueAfter", r.result.RequeueAfter)
	}
}

// detailVerbosity is that of the line which each reconciliation leaves.
const detailVerbosity = 5

// public is the Record of a reconciliation of r.
func (c *controller[request]) public(r request, rec *record) reconcile.Record {
	out := reconcile.Record{
		Controller: c.name,
		ID:         rec.id,
		Request:    r,
		Trigger:    rec.trigger(),
		Merged:     rec.origin.Merged,
		Priority:   rec.origin.Priority,
		Waited:     rec.origin.Waited,
		Started:    rec.started,
		Took:       rec.took,
		Outcome:    rec.outcome().String(),
		Result:     rec.result,
		Err:        rec.err,
		Terminal:   rec.terminal(),
		Panicked:   rec.panicked,
		TimedOut:   rec.timedOut,
	}
	out.Reads, out.Writes = rec.readsAndWrites()
	out.Accesses, out.Omitted = rec.accesses()
	return out
}

// ReconcileIDFromContext returns the ID of the reconciliation whose context ctx is, or "" where it is none's.
// Its log lines have it as reconcileID.
var ReconcileIDFromContext = func(ctx context.Context) types.UID {
	id, _ := ctx.Value(reconcileIDKey{}).(types.UID)
	return id
}

// newReconcileID returns a random UUID (version 4). It has to be unique, but not hard to guess.
func newReconcileID() types.UID {
	var raw [16]byte
	binary.NativeEndian.PutUint64(raw[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(raw[8:], rand.Uint64())
	raw[6] = raw[6]&0x0f | 0x40
	raw[8] = raw[8]&0x3f | 0x80
	var text [36]byte
	hex.Encode(text[:8], raw[:4])
	hex.Encode(text[9:13], raw[4:6])
	hex.Encode(text[14:18], raw[6:8])
	hex.Encode(text[19:23], raw[8:10])
	hex.Encode(text[24:], raw[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return types.UID(text[:])
}
