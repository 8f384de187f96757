// Package cluster runs a Kubernetes control plane inside the process.
//
// A Cluster is etcd, kube-apiserver, the workload controllers of kube-controller-manager and kube-scheduler: the real code of
// Kubernetes v1.37.1 and etcd, each in its own package below this one. Only the kubelet is missing; its place is taken by
// whatever RunNodes of the Options starts. A data directory holds the cluster's state, its keys and its kubeconfig.
//
// # Lifecycle
//
//  1. Start checks the options, opens and locks the data directory and takes the port: what a user can get wrong fails here,
//     with one sentence, before anything is written.
//  2. Keys, the store and the API server come up side by side. A new store gets its first objects in one transaction.
//  3. At the first moment that requests are answered, controllers, scheduler and nodes start.
//  4. Start returns when a user's work would succeed: RBAC and the default service accounts are there, the workload controllers
//     and the scheduler have seen the cluster, custom resources can be defined, and as many nodes as asked for are Ready.
//     With APIOnly there is nobody but the store and the API server, and nobody is waited for.
//  5. Mark remembers every object, and Reset goes back to it, as often as is wanted.
//  6. Failed is closed when the cluster cannot go on; Stop ends it either way.
//
// # Guarantees
//
//   - The API server listens on 127.0.0.1 only; the store is a Unix socket in a directory of mode 0700. RBAC and the default admission
//     plugins are on. Every cluster has its own certificate authority; key files have mode 0600.
//   - With a data directory, what the API acknowledged survives kill -9 and power cuts, keys and port stay the same, and
//     kubeconfigs that were written before keep working where the port is still free.
//   - Without a data directory, nothing is left behind: state, keys and the kubeconfig's entries go when Stop returns.
//   - A start that fails leaves a directory or a kubeconfig that it did not get to use as it found them.
//
// # Not guaranteed
//
//   - Pods do not run: there is no kubelet, container or network. Services have addresses to which nothing can connect, the API server's
//     calls of a webhook or an aggregated API server among them; exec, attach and port-forward answer with errors, and a log is one line that
//     says why. A service of type ExternalName leads where it says, to localhost for example.
//   - Volumes hold nothing: claims of the default storage class bind to volumes that exist as objects only.
//   - The service "kubernetes" has no endpoints.
//   - Several clusters in one process share what Kubernetes keeps process-wide: feature gates, logging, and the metrics
//     that /metrics shows. They are otherwise independent; a process that starts and stops many of them
//     keeps some memory and goroutines of each.
//   - Stop is bounded: what has not ended within its time is abandoned, which in a command is the end of the process.
package cluster
