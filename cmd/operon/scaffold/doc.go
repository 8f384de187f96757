// Package scaffold is the verbs that make and change an operator's project: init, create api, create webhook, delete api, delete webhook
// and edit.
//
// Each verb makes a plan, a [fileset.Set], from the PROJECT file and what was asked for, and carries it out when it is complete: where
// anything is wrong the project stays as it was. Contents come from templates; what exists is changed with package splice; names come from
// package layout.
//
// [Regenerate] makes again what they made for a PROJECT file. Packages migrate and upgrade are the verbs that change a project as a whole.
//
// The packages below it, from the lowest: [project] (the PROJECT file), layout (names), fileset (plans), splice (changes of existing
// files), templates (contents), origin and gomodule (the library that a project is built on), review (plans before a person). Migrate and upgrade share
// worktree (what git knows of the project); threeway (merges) is upgrade's.
//
// # Guarantees
//
// A file that a person may have changed is never overwritten or removed, unless --force says so; with create webhook not even then.
// Projects of Kubebuilder v4 are added to on the library that they use. No verb needs the network, but for --external-api-module.
package scaffold
