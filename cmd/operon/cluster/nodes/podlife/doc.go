// Package podlife is the life of a pod on a simulated node, as a pure function.
//
// A [World] is what the node knows beyond the pod itself: its own address, the pod's address, the exact moments
// at which containers started, configuration that is missing. [Next] takes a pod, its World and the time of day and returns a
// [Step]: the status that the pod should have now, what to tell in events, when to look again, and whether the
// pod's processes have ended so that the pod may go. Next reads no clock, talks to nobody and changes none of its arguments, so every
// transition is a line in a table test.
//
// What it promises: transitions are those of a kubelet (init containers in order, sidecars before the containers they serve and
// after them, restart policies with the kubelet's back-off, phases and conditions with the kubelet's reasons); transitions that need no time
// are taken in one Step, so a pod without delays goes from bound to Ready in a single status; calling Next again with the status that it returned, at
// the same time, returns that status unchanged.
//
// What it does not: run anything, probe anything. What a simulated container does is said by the pod's restart policy, by a command line that is plain
// without being run ("sleep 30", "exit 1" in a shell), and before both of them by annotations (see the constants of this package).
package podlife
