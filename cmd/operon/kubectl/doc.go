// Package kubectl is kubectl, as a verb of operon.
//
// Run is Kubernetes' own command line with its plugins. It is the same code at the same version as the API server of "operon
// cluster"; it reads KUBECONFIG and ~/.kube/config as kubectl does.
package kubectl
