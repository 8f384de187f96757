// Package etcd runs the cluster's store inside the process.
//
// A Server is one etcd member with one client endpoint: a Unix socket in a directory that only its owner may enter. There
// is no peer listener and no TCP port, so no other user of the machine can read or write the store.
//
// Guaranteed: with Durable set, what etcd acknowledged survives kill -9 and a power cut; a store that is damaged makes Start
// return a *CorruptError rather than end the process; etcd's fatal errors later on are reported on Failed.
//
// Not guaranteed: without Durable nothing is forced to disk, because the state is meant to die with the process. Damage
// that etcd meets only later, outside of its own error handling, still ends the process with its panic.
package etcd
