package gobuild

// CompilerFlags returns the flags that the operon command is compiled with, and whatever is to share its compiled packages: without inlining
// and debug information, but for the standard library, there is a third less to compile and a fifth less to link. The Makefile has them too.
func CompilerFlags() []string { return []string{"-gcflags=all=-l -dwarf=false", "-gcflags=std="} }
