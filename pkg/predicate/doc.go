// Package predicate has filters that decide which events reach a handler.
//
// A predicate is asked for every event of the watch it belongs to, in order, and the event is dropped at the
// first no. It filters what triggers a controller, and not what a cache holds: that is what cache.Options are
// for.
//
// Predicates are called from one goroutine for each watch. One that is given to several watches has to be
// safe for concurrent use; all of this package are. They must not block, nor change the object.
package predicate
