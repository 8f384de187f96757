// Package difftest runs Operon's generators and controller-gen side by side and compares what they write, byte for byte.
//
// Its nouns: a [Program] is a command line that generates; a [Case] is a tree of Go source and the arguments to run in it;
// an [Outcome] is what a program made of a case: the files that it created or changed, what it printed, how it ended, how
// long it took and how much memory it had at most. Cases come from two corpora: small packages in testdata/small, one
// aspect each, and the API packages of published modules, listed in testdata/modules.txt.
//
// controller-gen is a black box here. The Go command builds it from testdata/controller-gen, a module that pins its
// version, through the Go module proxy.
//
// The ordinary test takes the small corpus and the modules marked with a + in the list; with OPERON_CORPUS=all it takes
// all, and with OPERON_CORPUS_LIST=FILE it takes the modules of another list. BenchmarkPublishedModules prints the ratios of time and memory.
package difftest
