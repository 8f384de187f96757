// Package controllertest has stand-ins for what a controller is connected to, for tests of handlers, predicates and
// sources that need no API server. Where the API server's behaviour matters, test against one: package envtest.
//
// A [FakeInformer] tells its handlers of the events that the test makes up. A [Queue] (of requests; [TypedQueue] of
// anything) is a rate limiting queue that limits nothing. [ErrorType] is in no scheme, and [UnconventionalListType] has
// a list whose items are pointers: both are for tests of code that has to cope with them.
//
// What is guaranteed:
//
//   - An event has reached all handlers, in the order in which they were added, when the method that makes it
//     returns: it calls them itself.
//   - The store and the indexes of a FakeInformer hold what the events said, before the handlers hear of it.
//   - What is added to a queue, at whatever rate or after whatever time, can be got from it at once.
//   - All of it can be used by several goroutines at once; exported fields only as their comments say.
//
// What is not:
//
//   - A FakeInformer does not tell a new handler of the events before it, and resyncs nobody.
//   - Events made by several goroutines at once reach a handler at once.
//   - A FakeInformer neither lists nor watches: transforms and handlers of watch errors are taken and never called,
//     and it has no controller and no resource version.
package controllertest
