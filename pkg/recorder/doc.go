// Package recorder records Kubernetes events: short notes about what happened
// to an object, kept by the API server beside it.
//
// A [Provider] hands out recorders, each for a name that tells who reports.
// There are two kinds, for the two APIs that events have: GetEventRecorder's
// writes events.k8s.io/v1, and GetEventRecorderFor's writes the older core/v1.
// An [APIProvider] is the Provider that sends them to an API server.
//
// # Guarantees
//
// Recording never blocks and never fails: an event is queued and sent by
// another goroutine, which retries while the server cannot be reached. Similar
// events are counted together rather than sent one by one. When
// [APIProvider.Start] returns, no more requests are made.
//
// # What is not guaranteed
//
// Events may be lost: when the queue of 1,000 is full, when one object has too
// many of them, and when they are still queued two seconds after the provider
// was stopped. Of events.k8s.io/v1 events, the last ones before a stop may be
// lost in any case: their queue does not tell when it is empty.
package recorder
