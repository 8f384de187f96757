// Package priorityqueue holds a controller's work: keys that wait, in an order of importance, to be worked on.
//
// A key is due when a worker may take it, delayed when it has to wait for its time first, and taken from the moment a
// worker gets it until the worker calls Done. Every key has one entry, however often it is added. An entry's priority
// is an int, higher before lower, 0 unless said otherwise.
//
// Guaranteed:
//   - A key is taken by one worker at a time. Added again meanwhile, it becomes due again after Done, and not before.
//   - Of the keys that are due, a worker gets one of the highest priority, and of these the one that became due first.
//   - Adding a key that waits already keeps the higher of both priorities and the earlier of both times. A
//     key that is due and is raised goes to the end of its new priority.
//   - A delayed key never becomes due before its time.
//   - A worker is told why it gets a key, if those who added it said so: see Because.
//   - All methods may be called from any goroutine.
//   - The queue has no goroutine of its own. Two timers, one for the delayed keys and one for the metrics of
//     running work, are all that it sets off, and ShutDown returns after they are done.
//
// Not guaranteed:
//   - Low priorities are not aged: while keys of a higher priority keep coming, those of a lower one wait.
//   - Delayed keys do not outlive ShutDown.
//
// An add, a get and a done cost about what they cost in client-go's plain workqueue, and do not allocate while the
// number of keys stays the same.
package priorityqueue
