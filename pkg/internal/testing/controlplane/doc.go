// Package controlplane runs the control plane of a test.
//
// A [ControlPlane] runs in one of two ways. Together: one child process of the operon command that is etcd and kube-apiserver at once, on
// request with Kubernetes' controllers, scheduler and simulated nodes; it can be marked and reset, and shared with other test
// programs. Apart: an etcd and a kube-apiserver as two programs, as they are found in KUBEBUILDER_ASSETS and its like. It is together unless
// something was asked for that only the programs can do: their paths, addresses, directories or output, an [Authn] of one's own, or a flag that
// the operon command decides by itself.
//
// An [AuthenticatedUser] is a user that the API server knows by a client certificate. A [KubeCtl] runs kubectl as that user.
//
// # Guarantees
//
// When Start returns an error, no process is left behind. When Stop returns, processes have ended and temporary files are gone. Together,
// the child and its files also go when this process is killed; apart, the programs go (on Linux), and their files when the next control plane
// is started.
//
// # What is not guaranteed
//
// Ports of programs that run apart are chosen before the programs take them: another program may be faster. Together, the child takes
// its own.
package controlplane
