package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// Run is a command line that has been run as far as it goes without a judge.
type Run struct {
	stdout, stderr io.Writer
	code           int
	rest           *generation
	// report takes what there is to say; nil where that is text.
	report *Report
}

// Begin runs a command line. It ends before anything is written if there are definitions that only a judge can tell about, and none has done
// so before.
func Begin(args []string, stdout, stderr io.Writer) *Run {
	r := &Run{stdout: stdout, stderr: stderr}
	var err error
	if r.rest, err = r.execute(context.Background(), args, stdout, stderr); r.rest == nil {
		r.conclude(err)
	}
	return r
}

// Unjudged tells that a judge is needed to finish the run.
func (r *Run) Unjudged() bool { return r.rest != nil && r.rest.unjudged() }

// Settle finds definitions that need no judge, because nothing but their rules can be wrong and the check says that these are right.
func (r *Run) Settle(check generate.RulesCheck) {
	if r.rest != nil {
		r.rest.settle(context.Background(), check)
	}
}

// End does what is left to be done, and returns the exit code. Without a judge, definitions are written unseen.
func (r *Run) End(judge generate.Judge) int {
	if n := r.rest; n != nil {
		r.rest = nil
		err := error(nil)
		if judge != nil {
			err = n.ask(context.Background(), judge)
		}
		if err == nil {
			err = n.finish(context.Background())
		}
		r.conclude(err)
	}
	return r.code
}

// conclude says how the run ended.
func (r *Run) conclude(err error) {
	if err != nil {
		r.code = 1
	}
	var mistakes *mistakesError
	switch {
	case r.report != nil:
		if err != nil {
			r.report.fail(err)
		}
		if err := r.report.Print(r.stdout); err != nil {
			r.code = 1
			fmt.Fprintln(r.stderr, "controller-gen:", err)
		}
	case errors.As(err, &mistakes):
		mistakes.print(r.stderr)
	case err != nil:
		fmt.Fprintln(r.stderr, "controller-gen:", err)
	}
}

// mistakesError says that the source is wrong.
type mistakesError struct {
	list *diag.List
	dir  string
	// idle tells that markers without effect are among them.
	idle bool
}

func (e *mistakesError) Error() string { return "the source has mistakes" }

func (e *mistakesError) print(w io.Writer) {
	e.list.Print(w, e.dir)
	n := len(e.list.Sorted())
	noun := "mistakes"
	if n == 1 {
		noun = "mistake"
	}
	fmt.Fprintf(w, "controller-gen: %d %s, nothing is written\n", n, noun)
	if e.idle {
		fmt.Fprintf(w, "controller-gen: --%s=false takes markers without effect for warnings, as controller-gen has no objection to them\n", strictMarkers)
	}
	if slices.ContainsFunc(e.list.Sorted(), func(m diag.Mistake) bool { return m.Refused }) {
		fmt.Fprintf(w, "controller-gen: where definitions are patched before the API server gets them, --%s writes what it would refuse, and warns\n", allowRefused)
	}
}
