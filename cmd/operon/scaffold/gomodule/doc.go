// Package gomodule writes the go.mod and go.sum of a project without asking the network: it knows what a scaffolded project requires.
//
// That knowledge is a snapshot (snapshot.mod, snapshot.sum): what `go mod tidy` makes of a module that imports all that scaffolds import. Where
// the library is a checkout, its own go.mod and go.sum are added to it, so that the library may change without the snapshot.
//
// # Guarantees
//
// A requirement or a hash that a project has already is kept; a version is only ever raised. Not guaranteed: that nothing is required which the
// project could do without; `go mod tidy` finds that out.
package gomodule
