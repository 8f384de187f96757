// Package upgrade is "operon upgrade": it carries what is newer in the scaffold of this operon into a project that people have changed since it was made.
//
// That is a three-way merge of each scaffolded file. Base is what the scaffold that the project was made with makes for its PROJECT file, theirs
// is what the scaffold of this operon makes for it, and ours is the project. Released scaffolds are archived in package templates, so base can be
// made again; or the project's own history has it (--from).
//
// Which scaffold that was needs no record: it is the archived one from which the project differs least, since a person's own changes count
// alike against all of them.
//
// # Guarantees
//
// What nobody changed since it was made becomes as it is made now; what only a person changed stays; where both did in the same place, both are left
// in the file between markers, as git leaves them, and the file is named. Files that a person deleted stay deleted. All is written, or nothing.
//
// # What is not guaranteed
//
// Only files made from templates are merged. go.mod and what generators make are not; lines that create adds to files that are there already are made
// alike on both sides, so a change in how they are made is not carried.
package upgrade
