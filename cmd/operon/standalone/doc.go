// Package standalone runs etcd and kube-apiserver as the separate programs that they are elsewhere.
//
// The binary is etcd under the name etcd, and kube-apiserver under the name kube-apiserver: their own command lines, with every flag, exit code
// and signal of theirs, over the code that "operon cluster" links already. What starts the two, such as envtest of
// controller-runtime, cannot tell the difference; "operon setup-envtest" makes a directory of those names.
//
// Guaranteed: flags, output of --version and behaviour are those of kube-apiserver v1.37.1 and etcd v3.7.
//
// Not guaranteed: speed. What makes "operon cluster" start in a second (a seeded store, documents written when somebody asks) is not
// part of the real programs, except that they collect garbage less often until they serve.
package standalone
