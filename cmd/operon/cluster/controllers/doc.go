// Package controllers runs the controllers of kube-controller-manager that a user of workloads expects.
//
// A Set is those controllers over one set of shared informers. They are Kubernetes' own code, each built as kube-controller-manager
// builds it and with its default options; table.go lists them. They share the API server's loopback identity.
//
// Guaranteed: Start returns when the workload controllers have seen the cluster and work; the garbage collector and
// the resource quota controller, which watch every resource there is, follow in the background. Resources of a new
// CustomResourceDefinition come under the garbage collector's eye as soon as discovery shows them, where
// kube-controller-manager may take thirty seconds. A namespace that is deleted is emptied by Kubernetes' code at a faster pace: it
// is gone in a second or two, not five or ten.
//
// Not guaranteed: the controllers that need a cloud, a volume driver or a kubelet (attach/detach, the growth of volumes
// that are not simulated, node addresses, routes), the rarely used ones for device taints and for the API server's trust bundle, and
// separate identities: an audit or an RBAC rule cannot tell the controllers apart.
package controllers
