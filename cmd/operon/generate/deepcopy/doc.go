// Package deepcopy generates the methods by which API types copy themselves: DeepCopyInto, DeepCopy and, for the root
// types of an API, DeepCopyObject. It is the generator that controller-gen calls "object", and its output is
// controller-gen's, byte for byte.
//
// Its nouns: a selection (which types of a package get methods, as markers say), a hand-written method (a DeepCopy or
// DeepCopyInto that the package's author wrote, which the generated code calls and never replaces), and imports (the
// names by which the generated file knows other packages).
//
// Guaranteed: output that depends on nothing but the declarations of the package and the hand-written methods of the
// types it mentions; one file for a package, or none where no type gets a method; a type that cannot be copied is a
// mistake with the position of the field in question, all of them in one run.
//
// Not guaranteed: that the types a struct mentions from other packages have the methods that the generated code calls.
// Whether they will is up to those packages' own generated files, which are deliberately not looked at.
package deepcopy
