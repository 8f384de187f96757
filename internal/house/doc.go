// Package house holds the rules of this repository that a test can keep.
//
// It has no code of its own. Its tests read the tree they stand in and say, for
// every rule that is broken, which file breaks it and what would mend it:
//
//   - every package has a package comment, in doc.go or in its only file;
//   - no hand-written Go file outgrows 800 lines;
//   - no package or file has a name that says nothing (utils, helpers, common, types);
//   - no package of the library imports the command or Kubernetes itself;
//   - what the library depends on is what deps.txt lists, so that a new
//     dependency shows in review. `go test ./internal/house -update` rewrites it;
//   - the Makefile compiles with gobuild.CompilerFlags, as everything else does,
//     or Kubernetes would be compiled once more.
//
// They judge form. Whether a comment is true is for its reader.
package house
