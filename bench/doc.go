// Command bench measures the same work on Operon and on controller-runtime
// v0.25.2, in one process tree, and prints the two side by side.
//
//	OPERON=/path/to/operon go run . [-quick | -only regexp] [-write]
//
// A row is one measure: what each library took, the spread, their ratio, and
// the target where the project has set one. The last line counts the rows that
// meet their target. Rows that are measured together are a group; -list prints
// the groups, -only selects some of them, and -quick takes fewer rounds of the
// main ones. With -write the tables also go to RESULTS.md, everything to
// results.json, and a plot of what grows to growth.svg, in the working directory.
//
// # How it is measured
//
// The contenders of a row take turns: every round runs each of them once, in an
// order that changes, so that none always follows the same one. A slow moment of the machine then falls on
// all of them. The garbage of one is collected before the next runs, unless it
// is little beside what is in use. The table shows medians; the quartiles beside
// them are what the middle half of the rounds lay between. A row of a measure that does
// not vary, such as bytes on the heap, has few rounds.
//
// A group may take so much time and no more: when it has run out, no further round
// begins. No contender is left out of a round that has begun, and the table says how many rounds
// there were of those that were planned. So the whole run ends in time on a machine
// that is slower, or busy, at the price of medians of fewer rounds.
//
// Rows that read from a cache take their objects from a server in this process
// that speaks watch (package served); the objects are like those of real clusters, and
// the notes say how large they are. Rows that write, and those that
// start a manager, use a control plane that the operon command runs. What needs
// a process of its own, such as its peak memory, is measured in a child.
//
// controller-runtime is used through its public API, with the defaults of its
// constructors. Where it has an option that changes a row, the row with that
// option stands beside the default's. Neither library's client is rate limited.
//
// Rows that are taken at several sizes share a name. Of these, the exponent k is
// shown with which the measure grows as n to the power of k: the slope of the line
// that fits the logarithms best.
//
// # Where to read
//
// main.go has the list of groups and runs them; each group is a file of its own, named for it. rounds.go has how contenders take turns; operator.go says what a
// manager is to be, once for both libraries, and operator_ours.go and operator_peer.go make it. Package served has the objects and serves them;
// package report has what a row is, and shows the rows.
//
// # What a row is not
//
// It is not the library's share of an operator's time, and no row but those that
// say so includes the network or an API server. Times depend on the machine and
// on what else it does; the ratios depend on it less. Regressions are not caught
// here, but by the allocation ceilings in the library's own tests.
package main
