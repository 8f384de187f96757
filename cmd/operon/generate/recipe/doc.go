// Package recipe works out what the generators are to do for a whole project, and does it. It is the verb generate of the operon
// command, and a step of its inner loop.
//
// A Recipe is the arguments of one call of controller-gen. A project's recipes are those that its Makefile has for its targets generate
// and manifests, joined to one pass where they read the same packages; so a project that never heard of operon is generated as
// its own Makefile would. Without such lines the layout of Kubebuilder v4 is assumed. Apply
// configurations and conversions come along with deep-copy methods where a marker asks for them.
//
// Guaranteed: nothing is written unless all of a pass succeeds. Not guaranteed: variables that make takes from its environment or
// computes by functions are not known; a line that needs one is an error that names it.
package recipe
