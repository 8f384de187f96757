// Package migrate is "operon migrate": it moves a project of Kubebuilder or of Operator-SDK from controller-runtime onto Operon, and leaves
// everything else as a person wrote it.
//
// Its nouns: a [Plan] is the files as they will be, with notes on what was left for a person; a move is one change of a Go file, to an import or to a
// call that controller-runtime's API had another form for in the project's version of it.
//
// # How it goes
//
//  1. Go files: imports of controller-runtime become imports of Operon; what v0.25 of that API has in another form is rewritten; the search for
//     downloaded programs goes from test suites.
//  2. Makefile: what called downloaded tools calls operon; what downloaded them goes, unless something that stays needs it.
//  3. go.mod: as operon init writes it, and then as go mod tidy does.
//  4. The plan is compiled, tests included, without being written.
//  5. It is shown, asked about, and written together or not at all.
//
// # Guarantees
//
// In a project that is on Operon already, Go files that import controller-runtime all the same are moved, and nothing else but what go mod tidy
// makes of go.mod.
//
// Go files are changed by their syntax: comments, names and format stay. A file that was formatted is formatted again. A target of a Makefile that is
// not as Kubebuilder or Operator-SDK made it is left alone and named.
//
// # What is not guaranteed
//
// What a program does: it compiles, and its tests are to say the rest. Code behind build tags is moved, but not compiled.
package migrate
