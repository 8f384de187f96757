// Package informertest has a cache for tests whose events the test makes up. Where the API server's behaviour
// matters, test against one: package envtest.
//
// [FakeInformers] is a cache.Cache; its zero value is ready. It has one informer for each kind, made when it is first asked
// for. The test gets at it with [FakeInformers.FakeInformerFor] and makes events with its Add, Update and Delete:
//
//	fake := &informertest.FakeInformers{}
//	// hand fake to what is tested, as its cache
//	informer, err := fake.FakeInformerFor(ctx, &corev1.Pod{})
//	informer.Add(pod)
//
// What is guaranteed:
//
//   - All forms of a kind (its Go type, unstructured, metadata only) and both ways of asking (an object, a kind) come to the
//     same informer, until RemoveInformer.
//   - No call blocks. What a method does depends on the fields alone, not on whether Start was called.
//   - The methods can be used by several goroutines at once. Fields are set before, and read after, that.
//
// What is not:
//
//   - Nothing is read: Get and List leave the object as it is, even if there were events for it. For a reader with
//     objects in it, use a client. IndexField keeps nothing.
//   - Objects are not brought into a form: handlers get what the test gave to the informer.
//   - What the fake informers do not do either: see package controllertest.
package informertest
