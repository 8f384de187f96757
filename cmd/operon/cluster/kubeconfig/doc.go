// Package kubeconfig writes the file with which kubectl and client libraries reach a cluster.
//
// An Entry is a server address, its authority and a client certificate, under the name "operon". Write puts it into a file of its own or, where
// the file already holds other contexts, beside them, and makes it the current one, as other local clusters do. Remove
// takes it out again, unless a cluster that came later has taken its place.
//
// Guaranteed: other clusters, users and contexts of the file stay; a file that is not a kubeconfig, or whose cluster named
// "operon" is not on the loopback interface, is refused; the file changes in one step and has mode 0600.
//
// Not guaranteed: comments and field order of an existing file.
package kubeconfig
