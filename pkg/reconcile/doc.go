// Package reconcile has the one function that an operator is made of: given the name of something, make what
// is the case what ought to be.
//
// A request names an object and says nothing of what happened to it. A reconciler reads the state that it
// finds, compares it with the state that is asked for, and does what is missing. That is why it may be called
// again at any time, for several events at once, after a restart, or for nothing, and why an event that comes
// while it works is not lost: its request waits, and the reconciler is called again.
//
// A Record is what a controller knows about a reconciliation when it is over: its Trigger, the Accesses of its
// reconciler, and how it ended.
//
// Guaranteed by the controllers that call it: never for the same request twice at a time; again after an
// error, with growing delays; again after the time that it asks for itself.
//
// Not guaranteed: one call for each event, nor an order among requests.
package reconcile
