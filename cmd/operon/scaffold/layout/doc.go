// Package layout knows what everything in a project is called and where it is: directories, files, packages, import aliases, Go names,
// the names of roles, webhooks and their paths. They are those of Kubebuilder v4, so that a project is at home with both tools.
//
// [Names] are those of one resource of a project. [CheckGroup] and its sisters say what names a person may choose.
//
// # Guarantees
//
// Names follow from the PROJECT file alone; no other file is read.
package layout
