// Package handler turns events into requests: it says which objects are to be reconciled because something
// happened to this one.
//
//   - EnqueueRequestForObject asks for the object itself.
//   - EnqueueRequestForOwner asks for those that own it.
//   - EnqueueRequestsFromMapFunc asks for whatever a function says.
//   - Funcs is a handler made of functions, and an EventHandler can be anything else.
//
// Equal requests are one in the queue, so a handler need not mind how often it asks.
//
// All handlers of this package ask with LowPriority, where the queue has priorities, for an object that was
// there when the watch began and for an update that changed nothing. So what happens now is not held up by
// what a controller looks through once, at its start, or at a resync.
//
// A source calls a handler from one goroutine. One that is given to several sources has to be safe for
// concurrent use; all of this package are, as far as the functions that they are given are. They should not
// block: the events behind have to wait.
package handler
