// Package review puts a plan of changes before a person: [Diff] shows it, an [Asker] asks whether to go on.
//
// # What is not guaranteed
//
// A Diff leaves out what nobody reads, the lines of go.sum: it is not meant to be applied by a program.
package review
