// Package cache remembers what a run wrote and what it was made from, so that the next run with nothing changed can be left out.
//
// An [Entry] stands for runs with the same key: the same program, arguments, directory and environment. Its record lists inputs and
// outputs by size, time of change and content. An entry is fresh when all of them are as they were. Where only a time differs, the content
// decides.
// A [Fact] is something that follows from its key alone.
//
// Guaranteed: a fresh entry means that the run would write what is there already, as long as what it reads is among the inputs. Records
// that are damaged, or of another version, are not fresh. Not guaranteed: that a record stays; it lies in the user's cache directory, and a
// run that cannot save one goes on without.
package cache
