// Package apiserver runs kube-apiserver inside the process.
//
// A Server is Kubernetes' own chain of three servers (aggregator, core, custom resources) on one loopback listener, with RBAC, the default
// admission plugins, client certificates and service account tokens.
//
// Lifecycle: New builds it, Run serves until its context ends, Serving is closed at the first moment that requests are answered.
// Loopback reaches it as system:apiserver, which may do anything.
//
// Guaranteed: it listens on the given listener only; several servers may live in one process, one after another or side by side.
//
// Not guaranteed: isolation of what Kubernetes keeps process-wide: feature gates, metrics, the klog logger and capabilities are shared
// by all servers of a process. There is no endpoint for the service "kubernetes", because simulated pods dial nobody.
package apiserver
