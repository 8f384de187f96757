// Package served has the objects that rows read from a cache, and serves them as an API server does, in the process that measures.
//
// Nouns: a [Set] is many objects of one kind, like those of real clusters: [Pods], [ConfigMaps], and a custom resource, [Databases]. A [Server]
// serves one set by a watch that sends what exists first; an [EventServer] serves a watch that sends what it is told to.
//
// Guaranteed: an object of a set is the same in every run; an answer is encoded once, ahead of what is measured where Prepare is called.
//
// Not guaranteed: anything else that an API server does. There is no list, no discovery and no write.
package served
