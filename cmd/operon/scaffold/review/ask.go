package review

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// An Asker puts a question to the person at the terminal.
type Asker func(question string) (bool, error)

// AskerOf returns what asks the person at the terminal, or nil where there is no terminal.
func AskerOf(cmd *cobra.Command) Asker {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil
	}
	return NewAsker(in, cmd.OutOrStdout())
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
