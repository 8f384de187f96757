// Package cli runs generators with the arguments of controller-gen.
//
// An argument is the name of a generator with its options, "paths" with the packages to read, or an output rule:
//
//	crd:maxDescLen=0 object:headerFile=boilerplate.txt paths=./api/... output:crd:dir=config/crd
//
// All of them have the grammar of markers. The table of generators is in table.go, the output rules are in rules.go.
//
// A run reads the source once for all generators, renders everything, and then writes the files whose content changes, each in one
// step. When anything is wrong, nothing is written, and all mistakes are printed with their places. Markers that have no effect, which
// controller-gen passes over in silence, are printed too; they stop a run only with --strict-markers, which "operon generate" gives. Mistakes that are
// refusals of the API server, of a definition that controller-gen would write, are warnings with --allow-refused.
//
// A run that has definitions to be reviewed needs a judge for them, which is Kubernetes' code, and so stops before anything is written: [Begin], and then
// [Run.End] with a judge. Verdicts are kept in the cache directory by the content they are about, so the next run needs none.
//
// What a run wrote is remembered in the user's cache directory, by everything that it was made from. A run for which nothing changed
// since then reads no source and touches no file.
package cli
