// Package splice changes Go files and kustomizations that people keep: it adds what a new resource needs and takes it out again, and leaves
// every other byte as it is (Go files are formatted).
//
// Scaffolded files say with a marker, a comment "+kubebuilder:scaffold:NAME", where lines are to be added. Everything else is found by
// what it is: a statement by what it calls, an item of a list by its first line.
//
// # Guarantees
//
// Adding what is there already, and removing what is not, changes nothing.
//
// # What is not guaranteed
//
// YAML is handled as lines, in the block style of the scaffolds and of kustomize's own edits; lists in flow style, such as
// resources: [a, b], are not understood and are an error.
package splice
