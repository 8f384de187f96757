// Package envtest gives a test a Kubernetes control plane of its own.
//
// An [Environment] starts the operon command as a child process, waits until
// it serves, installs the CustomResourceDefinitions and webhooks it was given,
// and hands out a [k8s.io/client-go/rest.Config]. Stop ends the child again,
// Reset makes the cluster what it was when Start returned. A [User] is somebody
// whom the API server accepts. [WebhookInstallOptions] say where the test
// serves its webhooks.
//
//	env := &envtest.Environment{CRDDirectoryPaths: []string{"../config/crd/bases"}}
//	cfg, err := env.Start()
//	...
//	defer env.Stop()
//
// The command is found through the environment variable OPERON, which holds
// the path of the binary; or on PATH; or it is built, once, into the user's
// cache from the checkout that holds this module. Where KUBEBUILDER_ASSETS
// names a directory with an etcd and a kube-apiserver, those are run instead.
//
// # Guarantees
//
// When Start returns without an error, every CustomResourceDefinition it was
// given is established and its versions are served, and every webhook
// configuration is there. When Start returns an
// error, no process is left behind, and the error holds the last lines the
// command wrote. When Stop returns, the child has ended and its files are
// gone. The child, with its files, also goes when the process that called Start
// ends, however that happens; one that is shared ends when nobody has used it for
// a minute. When Reset returns, reads show the state of the start, and the API
// server admits and authorizes by it.
//
// # What is not guaranteed
//
// Environments share nothing, so several can run side by side; within one, the
// state of the cluster is whatever the tests leave. There are no controllers
// unless [Environment.Controllers] or [Environment.Nodes] ask for them: without
// them owned objects stay, namespaces are never gone, pods stay pending. Nodes are
// simulated: pods become ready, but nothing runs in them. The API server asks a
// webhook some milliseconds after it has its configuration.
package envtest
