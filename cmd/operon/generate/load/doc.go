// Package load reads Go packages for the generators: once for all of them, and no more than they look at.
//
// A [Source] is one run's view of the file system. It resolves import paths itself, from go.mod, go.work, vendor directories and the
// module cache, and asks the go command only where those do not tell (a module that is not downloaded yet, a go.mod from before Go 1.17). A
// [Package] is a directory's files after build constraints; their syntax is parsed on first use. A [Decl] is the declaration of
// one type.
//
// Types are checked only on demand, and only in slices: the declarations that a package's type declarations mention, in it and in
// what it imports, without function bodies, variables and all methods but [KeptMethods]. So a package that does not compile as a
// whole (its generated files are missing, say) can be loaded, and the price of a large dependency is that of the types used from it.
// Errors are reported for the packages asked for; what is wrong inside a dependency is not.
//
// A Source and its packages are safe for concurrent use. Files are expected not to change while a Source lives.
package load
