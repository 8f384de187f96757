// Package early tells whether the process is a run of the generators, and keeps its memory small while packages are initialised: each touches
// pages of the program's file once that are of no use later, 60 MB in all.
//
// It imports little, so that it is initialised before most. A process that is no run of the generators is left alone.
package early

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Arguments returns those of the generators, if the process is a run of them: by the verb, or by its own name.
func Arguments() (args []string, ok bool) {
	const name = "controller-gen"
	switch {
	case len(os.Args) > 0 && strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == name:
		return os.Args[1:], true
	case len(os.Args) > 1 && os.Args[1] == name:
		return os.Args[2:], true
	}
	return nil, false
}

// Often is how often pages are released while packages are initialised.
const Often = 2 * time.Millisecond

// Initialised is to be called when the packages are that a run begins with. It is nil where the process is none.
var Initialised func()

func init() {
	if _, ok := Arguments(); ok {
		letGrow(roomyHeap)
		Initialised = ProgramPages().KeepReleased(Often)
	}
}
