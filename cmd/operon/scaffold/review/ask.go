package review

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
)

// An Asker puts a question to the person at the terminal.
type Asker func(question string) (bool, error)

// AskerOf returns what asks the person at the terminal, or nil where there is no terminal.
func AskerOf(cmd *cobra.Command) Asker {
	if !cmdline.OnTerminal(cmd.InOrStdin()) {
		return nil
	}
	return NewAsker(cmd.InOrStdin(), cmd.OutOrStdout())
}

// Confirm asks the person at the terminal whether to go on. That there is no terminal is an error.
func Confirm(cmd *cobra.Command, question string) (bool, error) {
	ask := AskerOf(cmd)
	if ask == nil {
		return false, errors.New("nothing is changed yet: say --yes to go on")
	}
	return ask(question)
}

// NewAsker asks until the answer is y or n. That there is no answer is an error.
func NewAsker(in io.Reader, out io.Writer) Asker {
	lines := bufio.NewScanner(in)
	return func(question string) (bool, error) {
		for {
			fmt.Fprintln(out, question)
			if !lines.Scan() {
				return false, errors.Join(errors.New("no answer: give one with a flag, see --help"), lines.Err())
			}
			switch strings.ToLower(strings.TrimSpace(lines.Text())) {
			case "y", "yes":
				return true, nil
			case "n", "no":
				return false, nil
			}
		}
	}
}
