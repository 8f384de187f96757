// Package leader makes a pod the leader among the replicas of an operator for as long as the pod lives.
//
// A lock is a ConfigMap that is owned by a pod. The candidates, pods of one namespace, try to create it; the one that
// succeeds is the leader, and does nothing more about it: no lease to renew, and none to lose. When its pod is
// deleted, Kubernetes deletes the ConfigMap with it, and the next candidate's turn has come.
//
//	func main() {
//		ctx := ctrl.SetupSignalHandler()
//		if err := leader.Become(ctx, "memcached-operator-lock"); err != nil {
//			...
//		}
//
// A candidate has to know its pod's name, which the pod's template tells it:
//
//	env:
//	- name: POD_NAME
//	  valueFrom: {fieldRef: {fieldPath: metadata.name}}
//
// It needs these rights: configmaps: get, create, delete; pods: get; and, to take over from nodes that are gone, nodes: get.
//
// # Guarantees
//
// Of the candidates for a lock one at most is told that it leads, until its pod cannot run any more. A candidate takes
// over from a leader whose pod does not exist, whose pod has ended for good, as it does when it is evicted or
// preempted, and whose node has been removed from the cluster or is marked as out of service
// (node.kubernetes.io/out-of-service). A leader's container that restarts is still the leader.
//
// # What is not guaranteed
//
// A node that does not answer may still run the leader: nobody takes over before the node's pods have been
// deleted or the node has been removed, which can take minutes, or for ever. pkg/leaderelection's lease is quicker, and less
// certain. A node that was removed although it still runs can make two leaders.
package leader
