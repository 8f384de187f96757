package reconcile

// TerminalError marks an error as one that trying again will not mend: the controller logs and counts it, and
// waits for the next event instead of retrying.
//
// errors.Is(err, TerminalError(nil)) tells whether any error in err's tree is marked. errors.Is and errors.As
// see the wrapped error, too.
func TerminalError(wrapped error) error {
	return &terminalError{wrapped}
}

type terminalError struct{ err error }

func (t *terminalError) Error() string {
	if t.err == nil {
		return "terminal error without a cause"
	}
	return "terminal error: " + t.err.Error()
}

func (t *terminalError) Unwrap() error { return t.err }

func (t *terminalError) Is(target error) bool {
	_, marked := target.(*terminalError)
	return marked
}
