// Package worktree looks at the git repository that a project is in: whether its changes could be told from a person's and taken back, and
// what its files were in another commit.
//
// # Guarantees
//
// Nothing in the repository is changed; git is only asked.
package worktree
