// Package cache keeps the objects of a cluster that a program reads in the program's memory, up to date by a watch, and
// tells handlers when they change.
//
// # Nouns
//
// A [Cache] has a store for each resource that is asked for. A store holds one entry per object, in one form for all
// its readers: metadata only, the Go type, or all the server sent, whichever is the least that serves them, decoded or
// compact ([ByObject].Compact). What a reader gets (a Go type, unstructured, metadata) is a view of the entry. A feed lists and watches one namespace, or
// all, and brings entries into the store; the client brings others, from the answers to its writes. An [Informer] is a
// store in one form, as handlers see it.
//
// # Guarantees
//
//   - One watch. A resource is watched once for each of its namespaces, however many read it and in whatever forms.
//     Where a reader asks for more than is held, the watch is replaced by one that brings it; others read on meanwhile.
//   - One state. Views of an object in different forms are of the same version. Fields that a Go type does not know are
//     in the unstructured view.
//   - Own writes. What a client that reads from this cache has written (created, updated, patched, applied, deleted) is
//     what the next read shows, or something newer. No read waits for it. A write whose answer is not the object (scale,
//     eviction) takes the time of one more request, by which a cached object is read back. The labels, fields, namespaces and transforms
//     that restrict the cache hold for it as for what is watched.
//   - No way back. The reads of one object show versions in their order. A deleted object does not come back; one made
//     again under its name does appear.
//   - Events. Each handler is told one event at a time, those of an object in order, and each version once, be it from
//     a write of this program or from the watch. Replayed, the events give the content of the store. Versions in
//     between may be missing.
//   - Indexes. A List that selects by namespace, label, owner ([OwnedBy]) or a field of IndexField (=, !=, [FieldIn],
//     several of them) looks at the objects in the smallest of the sets selected, not at all objects.
//   - Nothing outlives its users. A resource is watched while somebody uses it, see Informers.GetInformer: the last to
//     leave ends the watch and gives the memory back. Nobody who leaves takes it from those who stay.
//   - Namespaces can come and go while the cache runs: [AddNamespace], [RemoveNamespace].
//   - Readiness is an event. HasSyncedChecker's channels are closed by the arrival of a list, and a resource that
//     cannot be listed holds up nobody else. The log says which, with verb, resource and subject where access is
//     denied; whoever waits for it gets that reason in the error when the context ends, and [WatchErrors] has it at any
//     time.
//   - Start returns when all that the cache started has ended.
//
// Memory: entries of a resource share what is equal in them, down to single strings, so that ten replicas of a pod cost
// little more than one. It is one more reason not to change what a handler, [Lend], [All] or UnsafeDisableDeepCopy hands
// out: other objects would change with it. Options.OnMutation, for tests, finds out who does, and names object and field.
//
// # What is not guaranteed
//
//   - Writes that others make arrive with the watch: some milliseconds later, or much later on a bad day.
//   - Objects read at different moments, or of different resources, need not be of one moment in the cluster.
//   - resourceVersions are taken for integers that can be compared, as Kubernetes promises of all its API servers make.
//     Where an aggregated API server has others, watched events are applied as they come, and own writes other than
//     deletions show when the watch brings them.
//   - An own deletion by name of an object that the cache has not seen does not hide an earlier object of the name that
//     the cache still holds: the server's answer does not tell which of the two is the later one.
//   - The versions of an API (autoscaling/v1 and v2) are resources of their own, with stores of their own: a write
//     through one shows in the other when its watch brings it.
//   - The end of a namespace is what the watch says it is: the answers to writes do not tell whether its finalizers, which are
//     in its spec, still hold it.
//   - The end of an object is remembered for ten minutes at most against events and answers that were on their way then.
//   - Where a feed selects by a field that cannot be read off an object by its name as a path, a write can bring an
//     object into the cache only through the watch; objects that are in it are kept up to date.
//   - A resource that has been asked for in a fuller form is held in it until the last user of any form has left. What a read
//     has had watched is watched until RemoveInformer or the end.
//   - A detector of mutations (Options.OnMutation) finds what was written when it looks: a field that is written back in
//     time is not found.
//   - metadata.managedFields is not there unless Options.KeepManagedFields is set.
//   - Lists come in no particular order, and never in pieces.
package cache
