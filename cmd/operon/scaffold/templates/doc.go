// Package templates holds the contents of scaffolded files.
//
// A template is a file here whose path, without ".tmpl", says what it becomes; [Render] fills it in. Go files are formatted.
package templates
