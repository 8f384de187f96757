// Package leaderelection makes the lock that replicas of an operator compete
// for, so that one of them works and the others stand by.
//
// The lock is a Lease object. A manager whose options ask for leader election
// makes one and runs the election with it.
//
// # What is not guaranteed
//
// A lease is no fence: a leader that is stopped for longer than the lease
// lasts, and goes on, may write for a moment beside its successor.
package leaderelection
