// Package generate is what Operon's generators have in common: the [Generator] interface, its [Input], the [Artifact] that it renders, and
// how YAML and file headers are written.
//
// A generator is a package below this one, usable on its own. Its struct's exported fields are its options; Markers lists, as data, the
// markers it reads; Generate renders files and writes none of them. Package cli runs several generators over one load of the source and
// writes what they rendered, all or nothing.
package generate
