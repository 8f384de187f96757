// Package rebuild builds one Go program again and again, as "go build" does, and sooner.
//
// Its nouns:
//
//   - A Builder builds a main package. The first build, and each one of which it is not sure, is a call of "go build".
//   - A plan is what the go command would do to build the program anew, read from what it prints with -n: the compiler's arguments for each
//     package and the linker's. It holds the archives that go build has compiled, and the files of all packages that are not in Go's module
//     cache or Go itself.
//   - A rebuild follows the plan: it compiles the packages whose files have changed, those that import one whose export data is not as it was,
//     and links. What the go command does besides takes it half a second with some hundred packages: to load all of them, to look whether one
//     is stale, to compile the importers of what is the same for them.
//
// Guarantees:
//
//   - A rebuild makes the binary that go build would make of the same files, byte by byte, its build ID apart.
//   - A plan is followed only while the same packages consist of the same files with the same beginnings, up to the end of their imports,
//     where build constraints are too; while go.mod and its like, embedded files and files that are not Go have not changed; and for packages
//     without cgo, assembly or embedded files among the changed ones. Otherwise go build does it, and the plan is made anew.
//   - What a person reads when something does not compile comes from go build.
//
// Not guaranteed: that a rebuild notices a Go toolchain, a GOROOT or a module cache whose files somebody changes by hand while the Builder lives.
package rebuild
