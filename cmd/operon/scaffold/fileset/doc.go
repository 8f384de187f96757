// Package fileset plans changes to the files of a directory and makes them together, or not at all.
//
// A [Set] is the directory as it will be: Create, Edit and Remove change the plan, Read and Exists look at it, Changes lists it,
// and Commit carries it out.
//
// # Guarantees
//
// Nothing is written before Commit. Where Commit fails it puts back what it had changed. A file that is there is never
// replaced by Create, unless the Set was told to.
//
// # What is not guaranteed
//
// A process that is killed in Commit leaves some files changed and others not. Changes that another process makes
// between a Read and Commit are overwritten.
package fileset
