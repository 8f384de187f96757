package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
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
	if cmdline.OnTerminal(file) {
		return nil
	}
	return &results{to: file}
}

// writer is where a program that takes a writer is to write.
func (r *results) writer() io.Writer {
	if r == nil {
		return os.Stdout
	}
	return r
}

// collect runs a program that takes no writer: what it writes to os.Stdout comes here. Its error is the program's.
func (r *results) collect(program func() error) error {
	if r == nil {
		return program()
	}
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	stdout := os.Stdout
	os.Stdout = to
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		if _, err := io.Copy(r, from); err != nil {
			_, _ = io.Copy(io.Discard, from) // so that the program does not wait
		}
	}()
	err = program()
	os.Stdout = stdout
	_ = to.Close()
	<-copied
	_ = from.Close()
	return err
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
