// Package deploy puts what a kustomize tree of a project describes on a cluster, and takes it away again. It is what
// the verbs install, uninstall, deploy and undeploy of the operon command do; no kubectl and no kustomize is needed.
//
// Its nouns:
//
//   - A Tree is a directory with a kustomization, rendered to objects.
//   - A Set is a name for the objects of one tree on one cluster. Every object of a set carries a label that names it, and a
//     ConfigMap, the set's record, lists the kinds that are in it. Labels and record follow the ApplySet specification
//     (KEP-3659), so that other tools which know it can read them.
//   - A Change is what happened to one object: created, configured, unchanged, pruned, kept, deleted or absent.
//   - A Deployer applies sets to a cluster and removes them, and reports changes as they happen.
//
// Guarantees:
//
//   - Nothing is applied when the tree does not render, or when it holds a kind that neither the cluster nor the tree itself
//     knows.
//   - Objects are applied with server-side apply under one field manager, namespaces and custom resource definitions first, and
//     what depends on a definition only after the API server serves it.
//   - What a former version of the tree held and this one does not is pruned, with two exceptions that are reported and kept:
//     namespaces, and custom resource definitions that still have objects.
//   - Removing takes custom resources away first, while the operator that finalizes them still runs.
//   - A wait that ends without success says what it waited for and what the cluster says about it.
//
// Not guaranteed: atomicity. An apply that the API server refuses half-way leaves what was applied before; applying again
// continues from there. Two deployments of one set at the same time end with the union of both, unpruned.
package deploy
