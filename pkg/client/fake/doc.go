// Package fake is a client for unit tests: it keeps its objects in memory and treats them as an API server would.
//
//	c := fake.NewClientBuilder().
//		WithScheme(scheme).
//		WithStatusSubresource(&cachev1alpha1.Memcached{}).
//		WithObjects(memcached).
//		Build()
//
// Nouns: a [ClientBuilder] collects objects, the scheme, indexes and options, and Build makes a [client.WithWatch] of
// them. Every client has a store of its own, unless WithObjectTracker shares one. What a server knows about a kind, the fake
// knows for Kubernetes' own kinds by itself; for custom resources it learns it from their CustomResourceDefinition
// (WithCRDs, which is Operon's own), or in part from WithStatusSubresource and WithRESTMapper.
//
// # Guarantees
//
// A test compares random operations with a real control plane: errors, answers and states are the same, but for what is listed
// below. In particular:
//
//   - A new object gets a uid, a creationTimestamp, a generation if its kind counts them, and a name from its generateName.
//     Generations count changes of what is wanted; resourceVersions move when something has changed, and only then.
//   - An update must name the current resourceVersion, or none if the kind can be replaced blindly. It creates what servers
//     create on update, such as a Lease. Preconditions of deletions hold.
//   - Where there is a status subresource, writes to the object leave the status alone, new objects of a kind from WithCRDs
//     have none, and writes to the status leave all the rest alone. Scale, eviction, binding and token work for the kinds that have them.
//   - Finalizers hold what is deleted; the update that removes the last one removes the object.
//   - An apply owns fields: conflicts name their owners, force takes over, and what nobody owns any more goes away. Creates,
//     updates and patches own fields too. With WithReturnManagedFields answers show it.
//   - JSON, merge and strategic merge patches, dry runs, label selectors, field selectors on metadata.name,
//     metadata.namespace, indexes and selectable fields, and lists in pages do what they do on a server.
//   - A watch begins with what there is, or after the resourceVersion that it names, and tells every change in order, as its
//     selectors see it. One that asks for initial events and bookmarks is told where those end, so that Reflectors work. It
//     ends with Stop or its context, and leaves no goroutine behind.
//   - With WithCRDs, unknown fields are dropped, defaults filled in, and objects validated as the schema says; what was
//     invalid before and is not touched is let through, as on a server. With WithCELRules, which needs another module, the
//     rules of the definitions (x-kubernetes-validations) are evaluated too.
//   - Typed, unstructured and metadata-only objects are views of one object. What is stored passes through JSON, so
//     that nothing is shared with callers, and what is empty is absent.
//   - A client may be used by several goroutines at once.
//
// # What is kept from controller-runtime's fake, though a server does otherwise
//
//   - Objects given to the builder are held as they are: unvalidated, with the status, uid and generation they have, or
//     none. One without a generation goes on without. Build writes the resourceVersion, "999", into those that have none. An
//     object with a deletionTimestamp and no finalizers makes Build panic, and so do managedFields that are not valid.
//   - Each object counts its own resourceVersions, from "1" for what is created, and lists have none;
//     WithGlobalResourceVersionCounter makes all count together, gives lists one, and lets watches begin at it.
//   - A uid, creationTimestamp or generation that a new object brings along is kept, and so is its status, unless its kind
//     comes from WithCRDs or the object from an apply.
//   - Namespaces need not exist. managedFields are not shown unless asked for. Typed answers never say their kind, so that an
//     object that is patched with client.Apply must be told its kind each time.
//   - Creating an object that has a resourceVersion is a bad request. An update or patch that removes a
//     deletionTimestamp, or adds one, is invalid; an apply keeps the one it creates an object with, and ignores others.
//   - A patch applies to the object as it is, if it says that the resourceVersion is null.
//   - An update with an empty, not nil, list of managedFields takes them all away. An apply to the scale of an object that has
//     none conflicts with nobody, and the object that it names is answered besides the scale. A patch of a scale without a
//     body is made of the object, and answered with it.
//   - Metadata can be created and updated by itself where nothing is known about the kind.
//   - Writes to a status never change labels or annotations. Servers let some of Kubernetes' own kinds do so.
//   - Field selectors on other fields than those above need an index, and an index answers equality only.
//   - DeleteAllOf without a namespace deletes in all of them. An owner of fields that is not named is "unknown".
//   - Of kinds that nothing is known about, an unknown subresource stands for the object itself.
//
// # What is not done
//
// Kubernetes' own kinds are neither defaulted nor validated, and keep their versions apart: what is created as
// autoscaling/v1 is not found as autoscaling/v2. Conversion webhooks are not run, and CEL rules only with WithCELRules; there is no admission, no RBAC, and no
// field validation: unknown fields are dropped, except that an apply refuses those that a schema does not have.
// No controller runs: owned objects are not collected, deletions know neither grace periods nor propagation, evictions
// do not ask disruption budgets. For all of that, package envtest starts a real control plane.
//
// With WithObjectTracker, the tracker decides what an apply is, and watches tell what the tracker tells.
package fake
