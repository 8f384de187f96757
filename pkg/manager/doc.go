// Package manager runs the parts of an operator together.
//
// A [Manager] holds a cluster (pkg/cluster) and the [Runnable]s that were added to
// it: controllers, servers, further clusters, or anything else that has a Start.
// Which of them run on every replica, and which only on the leader, they say
// themselves through [LeaderElectionRunnable]; those that say nothing run on
// the leader.
//
// # Lifecycle
//
// [Manager.Start] goes through these steps, each of which starts its runnables all at once:
//
//  1. HTTP servers: health probes, metrics, pprof, and each [Server] that was added
//  2. webhooks, until they are served: the caches may hold objects that the API
//     server has to have converted first
//  3. caches: of the manager's own cluster, and of clusters that were added
//  4. runnables that need no leader election, and the warm-up of those that do
//  5. leader election, if there is one; Elected is closed when it is won
//  6. runnables that need leader election
//
// When its context is done, when a runnable fails, or when the leadership is lost, it
// stops them in the opposite order, waiting for each step, and gives up the leadership last.
//
// # Guarantees
//
// The first error of a runnable ends the manager and is returned from Start.
// Start returns when everything it has started has ended; if that takes
// longer than GracefulShutdownTimeout, it returns an error that names what still runs.
// A replica that waits to lead does so at once when the leader gives its lease back, if it may watch the lease.
// A runnable that is added while the manager runs is started at once, or when
// the manager is elected. Any number of managers can run in one process.
//
// # What is not guaranteed
//
// After the leadership is lost, or with a GracefulShutdownTimeout of zero, Start does not wait: runnables
// may still be at work when it returns, and the process should exit. Caches are
// started, not filled, when the steps after them begin: a read waits for
// what it reads, and a controller waits for what it watches.
package manager
