// Package templates holds the contents of scaffolded files.
//
// A template is a file here whose path, without ".tmpl", says what it becomes. A [Set] is the templates of one scaffold, and its Render fills one in; Go files
// are formatted. The zero Set is the current scaffold; [Archived] are those that were released, so that operon upgrade knows what a project
// was made from.
//
// # Guarantees
//
// What is filled in keeps the names that archived templates use.
package templates
