package recipe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"

	"github.com/operon-dev/operon/cmd/operon/generate/cli"
)

// ErrMistakes is returned when the generators found mistakes in the sources, which they have printed.
var ErrMistakes = errors.New("nothing was generated: mend what is named above")

// strictMarkers has markers without effect be mistakes. A project's own flags come later, and win.
const strictMarkers = "--strict-markers"

// Run carries out the recipes of the project in root by the binary operon. Mistakes in the sources are printed to stderr and end in
// ErrMistakes. Markers that no generator knows, or that stand where none looks, are mistakes too, unless a recipe has --strict-markers=false.
func Run(ctx context.Context, operon, root string, stderr io.Writer) error {
	return run(ctx, operon, root, stderr, strictMarkers)
}

func run(ctx context.Context, operon, root string, stderr io.Writer, flags ...string) error {
	recipes, err := Of(root)
	if err != nil {
		return err
	}
	for _, recipe := range recipes {
		// A process of its own: the generators work in its directory, and start before the rest of the binary does.
		cmd := exec.CommandContext(ctx, operon, slices.Concat([]string{"controller-gen"}, flags, recipe)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = root, stderr, stderr
		if err := cmd.Run(); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return ErrMistakes
			}
			return fmt.Errorf("generators: %w", err)
		}
	}
	return nil
}

// report carries out the recipes as run does, and returns what became of them for programs. The first with mistakes is the last.
func report(ctx context.Context, operon, root string, stderr io.Writer, flags ...string) (cli.Report, error) {
	all := cli.NewReport()
	recipes, err := Of(root)
	if err != nil {
		return all, err
	}
	for _, recipe := range recipes {
		cmd := exec.CommandContext(ctx, operon, slices.Concat([]string{"controller-gen", "--output=json"}, flags, recipe)...)
		cmd.Dir, cmd.Stderr = root, stderr
		out, err := cmd.Output()
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			return all, fmt.Errorf("generators: %w", err)
		}
		var one cli.Report
		if jsonErr := json.Unmarshal(out, &one); jsonErr != nil {
			return all, errors.Join(context.Cause(ctx), fmt.Errorf("generators: %w", cmp.Or(err, jsonErr)))
		}
		if all.Add(one); err != nil {
			return all, ErrMistakes
		}
	}
	return all, nil
}
