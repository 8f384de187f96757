package devloop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/cmd/operon/devloop/rebuild"
	"github.com/operon-dev/operon/cmd/operon/devloop/stamp"
	"github.com/operon-dev/operon/internal/gobuild"
)

// buildFlags are what makes a build quick, rather than the manager: the loop waits for each build, and for nothing as long. Whoever has built
// the operon command has compiled most of the manager with them.
var buildFlags = slices.Concat(gobuild.CompilerFlags(), []string{
	// Without symbols the linker has half the work. Without a build ID the same code makes the same binary, whoever called the linker, and
	// the manager that runs needs no restart.
	"-ldflags=-s -w -buildid=",
	// Who runs it knows where it comes from: no need to ask git, nor to restart after a commit.
	"-buildvcs=false",
})

// buildEnv is added to a build's environment. A compiler or linker that does not collect garbage needs a quarter less of the processor; the
// limit keeps it from a small machine's swap.
var buildEnv = []string{"GOGC=off", "GOMEMLIMIT=1GiB"}

// newBuilder returns what builds the manager, with the overlay, if any, and as cgo was decided on.
func (l *loop) newBuilder() *rebuild.Builder {
	flags := buildFlags
	if l.overlay != "" {
		flags = append(slices.Clone(flags), "-overlay="+l.overlay)
	}
	return &rebuild.Builder{
		Dir: l.Root, Package: l.Package, Output: l.binary, Temp: l.temp, Flags: flags, Env: slices.Concat(buildEnv, l.withoutCgo),
		Name: "operon: building the manager",
	}
}

// decideOnCgo looks whether the manager can do without cgo, and reports whether that has changed, which takes a new builder. Images are built
// without, and so is the operon command: what it and the manager have in common need not be compiled again.
func (l *loop) decideOnCgo(ctx context.Context) (changed bool) {
	l.decidedFor = stamp.Of(l.module())
	before := l.withoutCgo
	l.withoutCgo = gobuild.WithoutCgo(ctx, l.Root, l.Package)
	return !slices.Equal(before, l.withoutCgo)
}

func (l *loop) module() string { return filepath.Join(l.Root, "go.mod") }

// renewBuilder has the next builds follow what was decided since the builder was made.
func (l *loop) renewBuilder() {
	l.builder.Stop()
	l.builder = l.newBuilder()
}

// peerMissing is what go says of code from a tutorial. Its own advice, go get, leads to a manager on two libraries.
const peerMissing = "no required module provides package sigs.k8s.io/controller-runtime"

// build compiles the manager and returns the digest of its binary.
func (l *loop) build(ctx context.Context) (digest [sha256.Size]byte, err error) {
	l.builder.Progress = l.Stderr
	if l.manager.running() {
		// A line that is drawn again would run into what the manager prints.
		l.builder.Progress = struct{ io.Writer }{l.Stderr}
	}
	err = l.builder.Build(ctx)
	var mistake *rebuild.Mistake
	if errors.As(err, &mistake) && l.decideOnCgo(ctx) {
		// A file with a part in C is not seen by a compiler that has none; what lacks it then is.
		l.say("the manager has a part in C now: building it again, with cgo")
		l.renewBuilder()
		return l.build(ctx)
	}
	switch {
	case errors.As(err, &mistake):
		if bytes.Contains(mistake.Said, []byte(peerMissing)) {
			l.say("there is code for controller-runtime: operon migrate makes it import Operon's library")
		}
		if l.manager.running() {
			return digest, errors.New("the project does not compile, and the previous manager keeps running")
		}
		return digest, errors.New("the project does not compile")
	case err != nil:
		return digest, err
	}
	file, err := os.Open(l.binary)
	if err != nil {
		return digest, err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return digest, err
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}
