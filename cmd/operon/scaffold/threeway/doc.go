// Package threeway merges two texts that were made from one, line by line.
//
// # Guarantees
//
// Where one side left a line of the base and the lines beside it alone, the other side's change is taken; where both changed them alike, it is taken once.
// Everything else is a conflict: both sides are in the result between the markers of git merge-file, to be settled by a person.
// A side that equals the base gives the other side, byte for byte.
package threeway
