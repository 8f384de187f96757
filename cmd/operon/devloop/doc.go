// Package devloop is the inner loop of a person who writes an operator: what the verb run of the operon command does.
//
// Its nouns:
//
//   - The plane is the cluster that the operator runs against: a control plane of its own, which lives and ends with the loop,
//     or the one that a kubeconfig names.
//   - The sources are the files that the manager and its manifests are made from. A snapshot of them tells whether anything changed.
//   - The manager is the operator's process, of the binary that package rebuild makes.
//   - A cycle makes everything follow the sources: generate, build, install the definitions, restart the manager, register its
//     webhooks, apply the samples. Each step that has nothing to do costs next to nothing.
//
// Guarantees:
//
//   - Without a kubeconfig or context given by name the loop talks to its own plane and to no other cluster, whatever KUBECONFIG
//     says.
//   - A cycle that fails says why and leaves the last working manager running; the next saved file starts the next cycle.
//   - A file saved during a cycle is not missed: another cycle follows.
//   - A build by go build that takes longer than a second shows how far it is. Where settings of a person's own keep Go from building at all, Run
//     says so, and ends.
//   - When the loop ends, the manager has ended, the plane is gone if it was the loop's own, and the webhooks that it registered
//     elsewhere are taken back. When the loop is killed, its plane goes too.
//
// Not guaranteed: that a manager which ignores its termination signal ends in good order; it is killed after a grace period.
package devloop
