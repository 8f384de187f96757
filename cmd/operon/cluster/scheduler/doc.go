// Package scheduler runs kube-scheduler's scheduler with its default profile.
//
// Guaranteed: Start returns when the scheduler has seen the cluster and takes pods.
//
// Not guaranteed: kube-scheduler's own HTTP endpoints and leader election; there is one scheduler in one process.
package scheduler
