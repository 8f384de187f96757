// Package controller runs reconcilers.
//
// A controller has sources, which say what happens, one queue, which holds the requests that come of it, and
// workers, which take requests from the queue and call the reconciler. New makes one that a manager runs; the
// builder package is the comfortable way to it.
//
// Its life, in order: 1. Watch, as often as there are sources. 2. Warmup, if it is enabled and the manager
// has to wait for an election: the sources start and fill the queue. 3. Start: the sources start, unless they
// have. When all that have something to sync are synced, the workers begin. A source that is not synced
// within CacheSyncTimeout ends the controller with an error that names it, and what it waited for; with a
// negative CacheSyncTimeout it goes on waiting. The log tells of it from the first second on. 4. The
// context of Start ends: the workers finish the request at hand, the sources stop, and Start returns when all
// of the controller's goroutines have ended. What is still queued is dropped: the next start lists it again.
//
// Guaranteed:
//   - One request is worked on by one worker at a time, and again after each event that came while it was.
//   - A controller waits for its own sources and for nobody else's.
//   - A reconciler that panics fails that one reconciliation, unless RecoverPanic is false.
//
// Not guaranteed: that a reconciler ends. One that ignores its context holds its worker, and the shutdown,
// for as long as it likes; ReconciliationTimeout only ends the context. The log tells of one that has run for a
// minute, and again whenever that time has doubled, and workqueue_longest_running_processor_seconds of all.
//
// Each reconciliation has a record of what triggered it, what it read and wrote, how long it took and how it
// ended: see reconcile.Record, and OnReconciled. The metrics operon_reconcile_triggers_total and
// operon_reconcile_calls_total are counted from it, and at verbosity 5 it is logged.
//
// The metrics controller_runtime_* and workqueue_*, the labels and the log keys are those of controller-runtime.
package controller
