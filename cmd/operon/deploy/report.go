package deploy

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
)

// A Result says what happened to an object.
type Result string

// The results. A dry run reports what would happen in the same words.
const (
	Created    Result = "created"
	Configured Result = "configured"
	Unchanged  Result = "unchanged"
	Pruned     Result = "pruned"  // it was in an earlier version of the tree
	Kept       Result = "kept"    // it would have been pruned, but for the reason given
	Deleted    Result = "deleted" //
	Absent     Result = "absent"  // it was to be deleted and was not there
)

// A Change is what happened to one object.
type Change struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	Result     Result `json:"result"`
	Reason     string `json:"reason,omitempty"`
}

func changeOf(object *unstructured.Unstructured, result Result, reason string) Change {
	return Change{
		APIVersion: object.GetAPIVersion(), Kind: object.GetKind(),
		Namespace: object.GetNamespace(), Name: object.GetName(),
		Result: result, Reason: reason,
	}
}

// String is the line that people read.
func (c Change) String() string {
	name := c.Name
	if c.Namespace != "" {
		name = c.Namespace + "/" + name
	}
	line := fmt.Sprintf("%-10s  %s %s", c.Result, c.Kind, name)
	if c.Reason != "" {
		line += " (" + c.Reason + ")"
	}
	return line
}

// A Reporter tells what a Deployer does while it does it: changes on one stream, what it waits for on another. It may be used
// from several goroutines.
type Reporter struct {
	mu       sync.Mutex
	out, err io.Writer
	json     bool
	redraw   bool
	changes  []Change
	waiting  string
}

// NewReporter writes a line for each change to out, or one JSON array of all of them on Close, and what is waited for to
// progress: on a terminal as one line that is redrawn.
func NewReporter(out, progress io.Writer, asJSON bool) *Reporter {
	return &Reporter{out: out, err: progress, json: asJSON, redraw: cmdline.OnTerminal(progress), changes: []Change{}}
}

// Change records c and prints it.
func (r *Reporter) Change(c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, c)
	if !r.json {
		r.clear()
		fmt.Fprintln(r.out, c)
	}
}

// Changes returns what was reported so far.
func (r *Reporter) Changes() []Change {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.changes)
}

// Waiting says what is waited for. In a pipe it prints a line when that changes.
func (r *Reporter) Waiting(what string, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.redraw {
		r.clear()
		fmt.Fprintf(r.err, "waiting     %s  %.0fs", what, time.Since(since).Seconds())
		r.waiting = what
		return
	}
	if what != r.waiting {
		fmt.Fprintln(r.err, "waiting    ", what)
		r.waiting = what
	}
}

// clear removes the redrawn line. The caller holds mu.
func (r *Reporter) clear() {
	if r.redraw && r.waiting != "" {
		fmt.Fprint(r.err, "\r\x1b[K")
		r.waiting = ""
	}
}

// Close ends the report: the JSON array, or a line that counts the changes. Where failed says that there would have been more, none is
// not the same as nothing to do.
func (r *Reporter) Close(failed bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
	if r.json {
		encoder := json.NewEncoder(r.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r.changes)
	}
	counts := map[Result]int{}
	for _, c := range r.changes {
		counts[c.Result]++
	}
	var parts []string
	for _, result := range []Result{Created, Configured, Unchanged, Pruned, Kept, Deleted, Absent} {
		if n := counts[result]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, result))
		}
	}
	switch {
	case len(parts) == 0 && failed:
		return nil
	case len(parts) == 0:
		parts = []string{"nothing to do"}
	}
	_, err := fmt.Fprintln(r.out, strings.Join(parts, ", "))
	return err
}
