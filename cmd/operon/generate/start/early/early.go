// Package early tells whether the process is a run of the generators, and keeps its memory small while packages are initialised: each touches
// pages of the program's file once that are of no use later, 60 MB in all.
//
// It imports so little that it is initialised among the first: what Go initialises before is what the packages need that it imports. A process that is no run
// of the generators is left alone.
package early

import (
	"os"
	"strings"
)

// Arguments returns those of the generators, if the process is a run of them: by the verb, or by its own name.
func Arguments() (args []string, ok bool) {
	const name = "controller-gen"
	if len(os.Args) == 0 {
		return nil, false
	}
	program := os.Args[0]
	for i := len(program); i > 0; i-- {
		if os.IsPathSeparator(program[i-1]) {
			program = program[i:]
			break
		}
	}
	switch {
	case strings.TrimSuffix(program, ".exe") == name:
		return os.Args[1:], true
	case len(os.Args) > 1 && os.Args[1] == name:
		return os.Args[2:], true
	}
	return nil, false
}

// program is where the process's program is mapped, if it is a run of the generators.
var program programPages

func init() {
	if _, ok := Arguments(); ok {
		program = findProgramPages()
		program.keepFew()
	}
}

// Release gives the pages of the program back that have been touched until now, in a run of the generators. It is for when something ends, such
// as the initialisation of packages; what is needed again comes back from the page cache.
func Release() { program.release() }
