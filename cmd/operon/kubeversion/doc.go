// Package kubeversion gives the Kubernetes code in this binary its version.
//
// Kubernetes' own builds stamp it in with linker flags; a Go dependency built by go build or go test says v0.0.0-master, which
// kubectl and version checks of operators take at its word.
package kubeversion
