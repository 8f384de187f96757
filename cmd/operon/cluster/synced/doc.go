// Package synced waits until the informers of a component have seen the cluster.
//
// Guaranteed: where one waits in vain, because the API server does not serve what it lists, Await says which API that is, and the way out,
// some seconds later. Kubernetes' own components wait on and log it.
//
// Not guaranteed: a reason for what a server that does serve an API takes long to list.
package synced
