// Package kustomize makes kustomize a part of the operon command: the same program, from its own library, under its own
// flags and exit codes.
package kustomize
