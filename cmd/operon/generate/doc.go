// Package generate is what Operon's generators have in common: the [Generator] interface, its [Input], the [Artifact] that it renders, and
// how YAML and file headers are written.
//
// A generator is a package below this one, usable on its own. Its struct's exported fields are its options; Markers lists, as data, the
// markers it reads; Generate renders files and writes none of them. Package cli runs several generators over one load of the source and
// writes what they rendered, all or nothing.
//
// To add a marker is to add one element to one list, schemaMarkers of package crd for instance: its name, what it may stand on, its help, and a function
// from the Go type of its arguments to what it changes. How it is parsed, listed by -w, suggested for a slip, and underlined when it is wrong follows
// from that. Its test is one archive in the generator's testdata, of the source and what comes of it, which OPERON_GOLDEN=update writes.
package generate
