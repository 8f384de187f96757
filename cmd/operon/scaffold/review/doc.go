// Package review puts a plan of changes before a person: [Diff] shows it, [Confirm] asks whether to go on. An [Asker] is who puts questions, where
// there is a terminal.
//
// # What is not guaranteed
//
// A Diff leaves out what nobody reads, the lines of go.sum: it is not meant to be applied by a program.
package review
