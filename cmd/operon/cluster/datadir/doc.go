// Package datadir owns the directory that holds a cluster's state.
//
// A Dir is either temporary (removed by Close) or named by the user (kept). Its marker file says that the directory is
// ours, which layout it has and which Kubernetes version wrote it last; its lock keeps a second process out.
//
// Guaranteed: a directory with content that is not ours is never touched; two processes never use one directory; a new
// directory that did not come to be used (Discard) is left as it was found. Temporary directories that a killed
// process left behind are removed when the next cluster starts.
//
// Not guaranteed: protection against programs that ignore the lock.
package datadir
