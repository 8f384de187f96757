// Package sidebyside does the same random operations with a fake client and with a real control plane, and compares them. It is what
// tests of the fake are written with.
//
// A [World] is one of the two. An [Operation] is drawn once and means the same in both; it leads to an [Outcome]. A [Comparison] does
// operations in both worlds, round by round, each in a namespace of its own, compares outcomes after each operation and what watches
// have told after each round, and returns each [Difference] with the shortest sequence of operations that shows it.
package sidebyside
