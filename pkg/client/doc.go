// Package client reads and writes Kubernetes objects.
//
// Nouns: a [Reader] gets and lists, a [Writer] creates, updates, patches, applies and deletes, a [SubResourceClient] does
// both for the part of an object that has an address of its own (status, scale, eviction, ...), and a [Client] is all of
// them together with the scheme and the REST mapper it works by. An [Object] is any API object with metadata, an
// [ObjectList] a list of them. A [Patch] says how an object is to change; options are values handed to a call, such as
// [InNamespace], [MatchingLabels], [FieldOwner] or [DryRunAll].
//
// # Forms of an object
//
// Every call takes an object in one of three forms, and one client serves them all:
//
//   - typed: a pointer to a struct whose kind the scheme knows. Kinds that client-go knows travel as protobuf unless the
//     rest.Config names a content type. What the API server answers leaves apiVersion and kind empty, because the Go type
//     says it, but Update and Patch leave what the caller has set.
//   - unstructured: *unstructured.Unstructured, or anything else that implements runtime.Unstructured, which names its
//     kind itself.
//   - metadata only: *metav1.PartialObjectMetadata, which names its kind itself. It can be read, listed, watched, patched
//     and deleted, but neither created nor updated: there is no whole object to send.
//
// # Where reads go
//
// A client made without a cache asks the API server. With [CacheOptions].Reader, Get and List go there, apart from
// kinds in DisableFor and, unless CacheOptions.Unstructured is set, unstructured objects. Writes, subresources and watches
// always go to the API server.
//
// # Guarantees
//
//   - When a call to the API server succeeds, the object handed in is the server's answer and nothing else: fields that the
//     answer does not have are empty. When it fails, the object is as it was.
//   - What the API server says about a request reaches the caller as it came (k8s.io/apimachinery/pkg/api/errors tells
//     such errors apart). A kind that the server does not serve satisfies meta.IsNoMatchError; one that the scheme does not
//     know satisfies runtime.IsNotRegisteredError.
//   - When the cache's reader is a [WriteObserver], it hears of every write that the server has accepted before the call
//     returns. A read that follows in the same process sees the write, and no read waits for it.
//   - The [CallObserver] of a context hears of each call that is made with it: a controller learns by it what a
//     reconciler reads and writes.
//   - A client is safe for use by several goroutines at once. An object or an option that two calls share at the same time
//     is not.
//
// # What is not guaranteed
//
// A read from a cache may be older than what the server has, except for this client's own writes. The client does not
// retry on conflicts. Dry-run requests and writes made with [DisableReadYourWritesConsistency] are not told to the cache.
package client
