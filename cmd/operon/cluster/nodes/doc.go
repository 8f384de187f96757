// Package nodes runs the simulated nodes of a cluster, the only part of `operon cluster` that is not the real thing.
//
// A node is a Node object with a lease that is renewed, an address, and a range of pod addresses of its own. [Run] registers
// as many as asked for, and lets one controller bring every pod that is bound to any of them through its life: to Running and Ready with an address of its own, to
// Succeeded or Failed when it is meant to end, and away when it is deleted. What happens to a pod and when is decided by
// package podlife; this package knows the API server.
//
// # What is simulated how
//
// A pod is Ready a few milliseconds after it was bound: images are there, programs start at once, and all probes pass at
// once, whatever their initial delay. Containers that restart whatever happens (restartPolicy Always) run forever. Containers that do not (the pods of
// Jobs, and bare pods with restartPolicy OnFailure or Never) exit with code 0 after [Options.RunFor]. A command line is read as far as it is plain without being
// run: sleep, true, false, "tail -f /dev/null", a shell script of nothing but these, echo and exit, and an endless loop on "while true". So "sleep 30" takes half a minute,
// and a Job that consists of "exit 1" in a shell fails; the pause image runs forever, and a readiness probe that runs "false" does not pass. Of any other program nothing is known.
// Programs end on SIGTERM, so a deleted pod is gone at once, whatever its grace period. A container that refers to a
// ConfigMap or Secret that is missing waits for it, as with a kubelet, and so does a pod with a volume of trust bundles. A pod that was created with a node's name, past the
// scheduler, and does not fit there is refused: Failed for the reason NodePorts, OutOfcpu, NodeAffinity or TaintToleration, say. Annotations on the pod tell it otherwise:
//
//	sim.operon.dev/run-duration: 2s | forever   how long containers run before they exit
//	sim.operon.dev/exit-code: "1"               what they exit with; makes servers exit, too, and so crash-loop
//	sim.operon.dev/ready-after: 5s | never      how long before they are ready
//	sim.operon.dev/waiting-reason: ErrImagePull keeps them from starting, for that reason
//	sim.operon.dev/start-after: 10s             how long the pod is in ContainerCreating
//	sim.operon.dev/stop-after: 20s | never      how long it takes to end when deleted, at most its grace period
//
// All but the last two can be narrowed to one container, also an init container, by appending its name:
// sim.operon.dev/exit-code.migrate. Changing them on a running pod takes effect at once. A value or name that cannot be understood is
// ignored and told in a Warning event (reason InvalidSimulation) on the pod or node.
//
// Annotations on a Node let it fail, until they are taken away or the nodes are run anew:
//
//	sim.operon.dev/unreachable: "true"              it sends no heartbeats, and its pods stay as they are, also deleted ones
//	sim.operon.dev/condition.Ready: "False"         what it says of itself; as well MemoryPressure, DiskPressure and PIDPressure
//
// What follows is Kubernetes' doing: an unreachable node is Unknown after fifty seconds, both kinds are tainted, and pods without a toleration are
// evicted after five minutes.
//
// # What is guaranteed
//
// No two pods that have not finished share an address, except pods on the host's network; an address that came free is given out again
// only after all others of its node have been. A pod's status is written with patches that name its UID and touch only what a kubelet
// owns, so conditions set by others survive, and a pod that was replaced by one of the same name is left alone. A pod that needs no waiting costs one status write from bound to Ready,
// and one delete to go; a pod with finalizers has its final status written before that. Nodes and pods found at the start, after kill -9 for example, are taken over: pods
// keep running, with their addresses.
//
// # What is not
//
// No program runs: [Kubelet], to which the API server connects in the place of all kubelets, has a line for kubectl logs that says so, and answers exec,
// attach, cp and port-forward with an error that says so. There is no network: nothing listens in any of the [Networks]. Volumes are taken as mounted and claims as bound. Pods
// with the restart rule RestartAllContainers are not scheduled, because the nodes do not announce that they can do it. Lifecycle hooks are not run. Events are told for as
// long as they are few: when hundreds of pods start in a moment, most start without. A Node object that is deleted stays deleted until the next start, as with a kubelet.
package nodes
