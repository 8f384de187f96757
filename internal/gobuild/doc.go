// Package gobuild runs go build and shows how far it is.
//
// A [Build] says what is built, and how; its Run builds it. On a terminal one line is redrawn with the share of packages that are compiled; elsewhere
// a line is printed after [Build.Patience], if there is one, and every ten seconds. What go itself has to say is passed on unchanged. A build that has
// nothing to do, or is done within [Build.Patience], shows nothing and costs next to nothing more than go build's own time.
//
// [Check] says beforehand which of a person's settings keep go from building. [CompilerFlags] and [Roomy] are the flags and the environment
// that make builds of the command quick.
//
// The share counts packages, not their size: it does not foretell the time that is left.
package gobuild
