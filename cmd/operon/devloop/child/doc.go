// Package child ties the processes that the inner loop starts to the loop's own life.
//
// Guaranteed: a child of [Command] or [Bind] ends with its context, and what it has started with it; Ctrl-C reaches the loop alone.
//
// Not guaranteed: that children end with a loop that is killed, on systems other than Linux.
package child
