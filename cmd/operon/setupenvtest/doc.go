// Package setupenvtest is "operon setup-envtest": the programs of an envtest suite, without a download.
//
// A store is a directory, <bin-dir>/k8s, with a directory for each version and platform, <version>-<os>-<arch>, that holds etcd,
// kube-apiserver and kubectl. setup-envtest of controller-runtime downloads them; here they are this one binary under three names, and under
// its own, by which Operon's envtest knows it. A selector says which versions are meant.
//
// Guaranteed: flags, layout and output are those of setup-envtest, so a Makefile may call one in place of the other; called
// setup-envtest, the binary is that command. What use prints exists and can be executed. A directory appears complete or not at
// all, and one that was downloaded is used as it is.
//
// Not guaranteed: other versions of Kubernetes than this binary's. Where one is asked for that is not in the store, use says so on standard
// error and gives this one.
package setupenvtest
