package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// Run is a command line that has been run as far as it goes without a judge.
type Run struct {
	stderr io.Writer
	code   int
	rest   *generation
}

// Begin runs a command line. It ends before anything is written if there are definitions that only a judge can tell about, and none has done
// so before.
func Begin(args []string, stdout, stderr io.Writer) *Run {
	r := &Run{stderr: stderr}
	var err error
	r.rest, err = execute(context.Background(), args, stdout, stderr)
	r.conclude(err)
	return r
}

// Unjudged tells that a judge is needed to finish the run.
func (r *Run) Unjudged() bool { return r.rest != nil }

// End does what is left to be done, and returns the exit code. Without a judge, definitions are written unseen.
func (r *Run) End(judge generate.Judge) int {
	if n := r.rest; n != nil {
		r.rest = nil
		err := error(nil)
		if judge != nil {
			err = n.ask(context.Background(), judge)
		}
		if err == nil {
			err = n.finish()
		}
		r.conclude(err)
	}
	return r.code
}

func (r *Run) conclude(err error) {
	if err == nil {
		return
	}
	r.code = 1
	var mistakes *mistakesError
	if errors.As(err, &mistakes) {
		mistakes.print(r.stderr)
		return
	}
	fmt.Fprintln(r.stderr, "controller-gen:", err)
}

// mistakesError says that the source is wrong.
type mistakesError struct {
	list *diag.List
	dir  string
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
}
