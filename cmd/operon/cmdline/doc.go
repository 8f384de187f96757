// Package cmdline is what the command lines of operon's verbs have in common: how they refuse what they do not know, the form of what they print,
// and whether a person sees it.
//
// Its nouns: a form of output is text, for people, or json, for programs; every verb that has both takes it as --output. A stream is what a verb
// reads from or writes to.
//
// Not guaranteed: that controller-gen, kubectl and the other programs that the binary stands in for do as the verbs do. Their command lines are
// their own.
package cmdline
