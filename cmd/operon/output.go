package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// results is standard output for the verbs. It remembers the first write that failed, so that lines which are printed without a look at the
// error cannot get lost in a success. Several goroutines may write.
type results struct {
	to io.Writer

	mu     sync.Mutex
	failed error
}

// resultsOf returns results that go to a file; nil for a terminal, which the verbs are to see as what it is.
func resultsOf(file *os.File) *results {
	if term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return &results{to: file}
}

func (r *results) Write(text []byte) (int, error) {
	n, err := r.to.Write(text)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failed = cmp.Or(r.failed, err)
	}
	return n, err
}

// end is how a verb ended that returned err: not well, if anything that it had to say is lost.
func (r *results) end(err error) error {
	if r == nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil || err != nil && !errors.Is(err, r.failed) {
		return err
	}
	reason := r.failed
	if path := (*os.PathError)(nil); errors.As(reason, &path) {
		reason = path.Err
	}
	return fmt.Errorf("standard output cannot be written (%w): what it says is not whole, though the work may be done; send it elsewhere", reason)
}
