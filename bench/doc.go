// Command bench measures the same work on Operon and on controller-runtime
// v0.25.2, in one process, and prints the two side by side.
//
//	OPERON=/path/to/operon go run . [-quick] [-write]
//
// A row is one measure: what each library took, their ratio, the spread, and
// the target where the project has set one. The last line counts the rows that
// meet their target. With -write the table also goes to RESULTS.md and
// results.json in the working directory; -quick takes fewer rounds.
//
// # How it is measured
//
// The contenders of a row take turns: every round runs each of them once, after
// a garbage collection, and each round another one is first. A slow moment of
// the machine then falls on all of them. The table shows medians; the spread is
// the smallest and the greatest round.
//
// Rows that read from a cache take their objects from a server in this process
// that speaks list and watch (see podServer). Rows that write, and those that
// start a manager, use a control plane that the operon command runs.
//
// controller-runtime is used through its public API, with the defaults of its
// constructors. Where it has an option that changes a row, the row with that
// option stands beside the default's. Neither library's client is rate limited.
//
// # What a row is not
//
// It is not the library's share of an operator's time, and no row but those that
// say so includes the network or an API server.
package main
