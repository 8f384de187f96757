// Package process starts the programs of a test's control plane, and holds the arguments they are given.
//
// [Arguments] are flags by name, each with the values a caller set, laid over defaults that are only known when the program starts. A
// [Command] says what to run; [Start] runs it as a [Process], which is over when its Ended channel is closed.
//
// # Guarantees
//
// A process that Start returned, or failed to bring to readiness, never outlives Stop or the failed Start. On Linux it is told
// to end when this process ends, however that happens; elsewhere a program that watches its standard input ends with it.
// The last of what the program wrote is kept for error messages.
//
// # What is not guaranteed
//
// Children of the started program are not looked for.
package process
