// Package cluster bundles what it takes to work with one Kubernetes cluster: a
// configuration, a scheme, a REST mapper, a cache, a client and event recorders.
//
// A [Cluster] is made by [New] and works once it has been started. A manager holds
// the cluster its controllers live in; further ones may be added to it.
//
//	other, err := cluster.New(config)
//	...
//	err = mgr.Add(other)
//
// # Guarantees
//
// GetClient reads from the cache and writes to the API server, and what it has
// written it reads at once. GetAPIReader always asks the API server. When
// [Cluster.Start] returns, all watches have ended and no more events are sent.
//
// # What is not guaranteed
//
// Reads from the cache fail before Start, and may lag behind writes made by others.
package cluster
