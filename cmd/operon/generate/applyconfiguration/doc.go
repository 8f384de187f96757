// Package applyconfiguration generates apply configurations: for each type of an API one in which every field can be absent, with functions
// that set the fields, so that a program can say in a server-side apply what it wants and nothing else. Its output is controller-gen's, byte
// for byte.
//
// Its nouns: a root is a type that is an object of the API, marked +genclient or +kubebuilder:resource; a declared type is what the package
// declares and a root reaches; its configuration is the generated type; a [Mapping] says where the configuration of a type of another package
// is found. The extract functions of a root need a schema of it, in the terms of sigs.k8s.io/structured-merge-diff.
//
// Guaranteed: the files of a package depend on nothing but the declarations that its roots reach. They lie in a directory of their own below
// the package, or where +kubebuilder:ac:output:package says; output rules of the command line do not move them. As controller-gen does it, only a root marked +kubebuilder:resource has a schema,
// and where a package has no such root, no root of it has extract functions.
//
// Where controller-gen's code does not compile or its schema lacks a type, the output is what it should be: for fields of type rune, of generic
// types, and of types made from a type that is made from another.
//
// Not guaranteed: that the output compiles. The function ForKind refers to the variable SchemeGroupVersion of the package, whose author
// declares it.
package applyconfiguration
