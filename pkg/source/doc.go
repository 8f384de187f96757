// Package source connects what happens to a controller's queue.
//
//   - Kind: what happens to the objects of a kind, as a cache sees it. This is what nearly every controller uses.
//   - Informer: the same, of an informer that the caller has got already.
//   - Channel: what other code sends through a Go channel.
//   - Func: anything else.
//
// A source is handed to Controller.Watch, and the controller starts it. From then on it calls a handler for
// every event that its predicates let pass, and the handler fills the queue.
//
// Guaranteed by the sources of this package:
//   - Events about one object are handled in their order, and one source's events one after the other.
//   - A Kind is synced after its handler has been called for every object that was there when the watch
//     began; then WaitForSync returns, without polling.
//   - A Kind whose resource does not exist yet waits until it does. It can say at any time what is in its way.
//   - The queue that a handler is called with notes the event as the trigger of what is added to it.
//   - When the context of Start ends, the source stops, and a Kind and an Informer take their handler back. A
//     controller that stops waits until they have.
//
// Not guaranteed: an event for every change. Changes that follow each other quickly, or while a watch is
// interrupted, may be seen as one.
package source
