// Package envtest gives a test a Kubernetes control plane of its own.
//
// An [Environment] starts the operon command as a child process, waits until
// it serves, installs the CustomResourceDefinitions it was given, and hands
// out a [k8s.io/client-go/rest.Config]. Stop ends the child again.
//
//	env := &envtest.Environment{CRDDirectoryPaths: []string{"../config/crd/bases"}}
//	cfg, err := env.Start()
//	...
//	defer env.Stop()
//
// The command is found through the environment variable OPERON, which holds
// the path of the binary, and after that on PATH.
//
// # Guarantees
//
// When Start returns without an error, every CustomResourceDefinition it was
// given is established and its versions are served. When Start returns an
// error, no process is left behind, and the error holds the last lines the
// command wrote. When Stop returns, the child has ended and its files are
// gone. The child also ends when the process that called Start ends, however
// that happens.
//
// # What is not guaranteed
//
// Environments share nothing, so several can run side by side; within one, the
// state of the cluster is whatever the tests leave. Nodes are simulated: pods
// become ready, but nothing runs in them, and without [Environment.Nodes] pods stay pending.
package envtest
