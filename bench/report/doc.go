// Package report shows what a run of the bench has measured.
//
// Nouns: a [Row] is one measure of both libraries, with a sample for each round; a [Target] is what it should reach. A [Report] is the rows of a
// run with what follows from them: medians and quartiles, their ratio, and how a measure that was taken at several sizes grows. It can be written
// as text, Markdown, JSON and a plot.
//
// Guaranteed: the same rows give the same bytes, but for the machine and its load, which the report names.
package report
