// Package start runs the verb controller-gen before the rest of the program starts.
//
// The operon binary holds Kubernetes, whose packages take about 100 ms and 80 MB to initialise: more than many a run of the
// generators takes. Go initialises packages in the order of their import paths as soon as what they import is; this one, which imports
// no package of Kubernetes, comes before those. So the command imports it for its effect, and a run of the generators is over before the
// others begin. A run that Kubernetes' packages are needed for, because a definition has rules that nobody has judged yet, stops before anything
// is written. Package settle ends it where rules are all that there is to judge and they are right, and main does otherwise.
//
// Guaranteed: a process that is called neither with the verb nor by its name is left alone. Not guaranteed: that nothing at all was initialised before; main
// runs the verb as well, should the order ever be another.
package start

import (
	"os"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/cli"
	"github.com/operon-dev/operon/cmd/operon/generate/start/early"
	_ "github.com/operon-dev/operon/cmd/operon/generate/start/heap" // collects garbage less often
)

func init() {
	args, ok := early.Arguments()
	if !ok {
		return
	}
	run := cli.Begin(args, os.Stdout, os.Stderr)
	if !run.Unjudged() {
		os.Exit(run.End(nil))
	}
	begun = run
	early.Release()
}

// begun is a run that waits for a judge: for the packages that Go initialises after this one.
var begun *cli.Run

// Settle has a check look at what the run that this package began waits for, and exits when that is all. Without such a run it does nothing.
func Settle(check generate.RulesCheck, exit func(code int)) {
	if begun == nil {
		return
	}
	early.Release()
	begun.Settle(check)
	if !begun.Unjudged() {
		exit(begun.End(nil))
	}
}

// End finishes the run that this package began with these arguments, or begins one now, and returns the exit code.
func End(args []string, judge generate.Judge) int {
	run := begun
	if run == nil {
		run = cli.Begin(args, os.Stdout, os.Stderr)
	}
	return run.End(judge)
}
