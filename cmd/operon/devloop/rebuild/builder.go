package rebuild

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/operon-dev/operon/cmd/operon/devloop/child"
	"github.com/operon-dev/operon/internal/gobuild"
)

// A Builder builds a program. Its methods must not be called at the same time. Call Stop after use.
type Builder struct {
	// Dir is where the go command works, Package the main package as it is named there, such as ./cmd.
	Dir, Package string
	// Output is the binary. It is replaced at once, so that the one that was there may run meanwhile.
	Output string
	// Temp is a directory for archives, which stay there.
	Temp string
	// Flags are the build flags of go build. They must be those of a build as it is without -n, -x, -a, -o and -work.
	Flags []string
	// Env is added to the environment of the go command, the compiler and the linker.
	Env []string
	// Progress gets how far go build is, where it takes longer than a second, and what it says; nil means nobody. Name is what the program is
	// called there; empty means Package.
	Progress io.Writer
	Name     string

	plan     *plan
	archives int // how many were named
	// working is for what Plan or Ahead have begun, stop ends it.
	working sync.WaitGroup
	stop    context.CancelFunc
}

// patience is how long go build may take before it shows how far it is.
const patience = time.Second

// A Mistake is the error of a program that does not build. Said is what the go command says about it, to Progress too.
type Mistake struct{ Said []byte }

func (*Mistake) Error() string { return "the program does not build" }

// Build makes the binary, after it has waited for what Plan or Ahead have begun.
func (b *Builder) Build(ctx context.Context) error {
	b.working.Wait()
	if b.plan != nil {
		if b.rebuild(ctx) == nil {
			return nil
		}
		// The go command judges, and its errors are the ones to show. When it builds what a rebuild did not, the plan is out of date.
	}
	next := b.Output + ".next"
	build := gobuild.Build{
		Name: b.Name, Dir: b.Dir, Package: b.Package, Output: next, Flags: b.Flags, Env: append(os.Environ(), b.Env...), Patience: patience,
		Prepare: child.Bind,
	}
	progress := b.Progress
	if progress == nil {
		progress = io.Discard
	}
	result, err := build.Run(ctx, progress)
	var exit *exec.ExitError
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit):
		return &Mistake{[]byte(result.Said)}
	case err != nil:
		return err
	}
	b.plan = nil
	return os.Rename(next, b.Output)
}

// Plan begins to make a plan for the next builds, if there is none: about two seconds' work for a processor. It does not wait for it. It is
// for the time after a successful build when nobody waits.
func (b *Builder) Plan(ctx context.Context) {
	b.working.Wait()
	if b.plan == nil {
		b.begin(ctx, func(ctx context.Context) {
			// Without a plan the go command builds, which is no mistake.
			b.plan, _ = b.newPlan(ctx)
		})
	}
}

// Ahead begins to build what a plan covers, if there is one, for a caller who has something else to do before Build, and expects that the
// program stays as it is now. When it does not, Build does what is left.
func (b *Builder) Ahead(ctx context.Context) {
	b.working.Wait()
	if b.plan != nil {
		b.begin(ctx, func(ctx context.Context) {
			_ = b.rebuild(ctx) // Build comes to the same end
		})
	}
}

func (b *Builder) begin(ctx context.Context, work func(context.Context)) {
	ctx, stop := context.WithCancel(ctx)
	b.stop = stop
	b.working.Go(func() {
		defer stop()
		work(ctx)
	})
}

// Stop ends what Plan or Ahead have begun.
func (b *Builder) Stop() {
	if b.stop != nil {
		b.stop()
	}
	b.working.Wait()
}

// goCommand is a go command for the package, with the build flags.
func (b *Builder) goCommand(ctx context.Context, verb string, flags ...string) *exec.Cmd {
	args := slices.Concat([]string{verb}, b.Flags, flags, []string{b.Package})
	return child.Command(ctx, b.Dir, b.Env, "go", args...)
}

// archive is the path of an archive that is not there yet.
func (b *Builder) archive() string {
	b.archives++
	return fmt.Sprintf("%s/%d.a", b.Temp, b.archives)
}

// output is what a go command prints.
func (b *Builder) output(ctx context.Context, args ...string) ([]byte, error) {
	out, err := child.Command(ctx, b.Dir, b.Env, "go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return out, nil
}
