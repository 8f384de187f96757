// Package diag holds what a run of the generators found wrong in its input. A [Mistake] is one finding with its place in the source;
// a [List] gathers the mistakes of a whole run, so that a user sees all of them at once, and prints each with the line it is on and the
// words in question underlined.
//
// A List is safe for concurrent use. It reads source files again when it prints, and leaves the excerpt out where a file cannot be read.
package diag
