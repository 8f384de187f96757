package cmdline

import (
	"bytes"
	"os"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestAVerbThatTakesFlagsAloneNamesItselfAndTheArgument(t *testing.T) {
	root, verb := &cobra.Command{Use: "operon"}, &cobra.Command{Use: "version"}
	root.AddCommand(verb)
	if err := NoArguments(verb, nil); err != nil {
		t.Errorf("no arguments: %v", err)
	}
	want := `operon version takes no arguments, only flags: "now" is not one`
	if err := NoArguments(verb, []string{"now", "please"}); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestOutputIsTextUnlessItIsOneOfTheForms(t *testing.T) {
	for _, tt := range []struct {
		args      []string
		want, err string
	}{
		{nil, Text, ""},
		{[]string{"-o", "json"}, JSON, ""},
		{[]string{"--output=text"}, Text, ""},
		{[]string{"-o", "yaml"}, "yaml", `--output "yaml": give text or json`},
		{[]string{"-o", ""}, "", `--output "": give text or json`},
	} {
		var output, said string
		f := pflag.NewFlagSet("verb", pflag.ContinueOnError)
		AddOutput(f, &output, "one object")
		if err := f.Parse(tt.args); err != nil {
			t.Fatal(err)
		}
		if err := CheckOutput(output); err != nil {
			said = err.Error()
		}
		if output != tt.want || said != tt.err {
			t.Errorf("%q: output %q, error %q; want %q and %q", tt.args, output, said, tt.want, tt.err)
		}
	}
}

func TestOnlyATerminalIsColoured(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "stream")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	for name, stream := range map[string]any{"a file": file, "a buffer": &bytes.Buffer{}, "nothing": nil} {
		if OnTerminal(stream) || Coloured(stream) {
			t.Errorf("%s is taken for a terminal", name)
		}
	}
}
