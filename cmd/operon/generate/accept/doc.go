// Package accept tells which definitions the API server accepts, of those that are plain but for their rules.
//
// A rule is an expression of x-kubernetes-validations. It is parsed and checked in the API server's own CEL environment, and what it may cost
// is what the API server's own estimate says; rules are run on the values that they get from defaults. A definition
// is accepted when all that package admit would look at is fine, and left to it otherwise.
//
// Guaranteed: what is accepted here, package admit has nothing against, as long as the rest of the definition is plain. Not guaranteed: the
// reverse. Nothing is said about reasons.
//
// It is apart from package admit because that needs half of the API server, which takes longer to initialise than the rules take to be judged.
package accept
