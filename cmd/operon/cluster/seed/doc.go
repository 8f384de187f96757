// Package seed makes the first state of a cluster: the objects that Kubernetes' own components create on a new store.
//
// Objects returns what kube-apiserver's start-up hooks and the first rounds of the controllers would write through the API, one request after
// another with polls of a second between them: the system namespaces with their default service accounts, the RBAC
// bootstrap policy, the system priority classes, the flow control configuration and the service network. They come from
// Kubernetes' own definitions, are given Kubernetes' own defaults and are encoded as kube-apiserver stores them. The components still
// run and find their work done.
//
// Guaranteed: the same objects as an unseeded cluster gets, and a default storage class. Only namespaces have managedFields.
//
// Not guaranteed: anything for a store that is not empty; it is never to be seeded.
package seed
