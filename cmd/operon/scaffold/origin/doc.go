// Package origin knows where the running command came from, so that the projects it makes can build against the same library.
//
// An [Origin] is either a released version of the library, or a checkout of its source on this machine.
//
// # What is not guaranteed
//
// A binary that was built with -trimpath and carried away from its checkout can't tell where that is; [Find] then says so.
package origin
