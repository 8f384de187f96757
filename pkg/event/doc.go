// Package event has the four things that can happen to an object as far as a controller is concerned: it is
// created, updated or deleted, or something that is not further specified happens to it.
//
// A source makes events, predicates drop some of them, and a handler turns the rest into requests for a
// reconciler. Few operators handle events themselves.
//
// The object in an event that comes from a cache is shared with everyone else who reads that cache. Reading
// it is safe; copy it before changing it.
package event
