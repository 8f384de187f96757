package controlplane

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gobuild"
)

// build builds the command into the user's cache, unless it is there and none of its source has changed since. Of several
// processes one builds, and the others wait.
func build(source string) (path string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("a cache directory to build the operon command into (%w): %s", err, advice)
	}
	sum := sha256.Sum256([]byte(source))
	dir := filepath.Join(cache, "operon", "envtest", hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("a directory to build the operon command into (%w): %s", err, advice)
	}
	at := filepath.Join(dir, "lock")
	lock, err := lockFile(at)
	if err != nil {
		fmt.Fprintf(os.Stderr, "envtest: waiting for another process that builds the operon command in %s\n", source)
		if lock, err = awaitLock(at); err != nil {
			return "", fmt.Errorf("%s, which tells whether the operon command is being built (%w): %s", at, err, advice)
		}
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	root := filepath.Join(source, "..", "..")
	state, err := fingerprint(root)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "operon")
	stamp := filepath.Join(dir, "source")
	if built, err := os.ReadFile(stamp); err == nil && string(built) == state && isFile(path) {
		return path, nil
	}
	fmt.Fprintf(os.Stderr, "envtest: building the operon command in %s; the first time this takes minutes\n", source)
	// What is built becomes visible when it is whole. A build that was killed has left its directory behind.
	const building = "building-"
	left, err := filepath.Glob(filepath.Join(dir, building+"*"))
	if err != nil {
		return "", err
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return "", err
		}
	}
	scratch, err := os.MkdirTemp(dir, building)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	if err := compile(root, source, scratch); err != nil {
		return "", fmt.Errorf("the operon command cannot be built in %s: %w; mend that, or %s", source, err, advice)
	}
	if err := os.Rename(filepath.Join(scratch, "operon"), path); err != nil {
		return "", err
	}
	return path, os.WriteFile(stamp, []byte(state), 0o644)
}

// compile compiles the command into scratch, and shows how far it is if the checkout has what shows it.
func compile(root, source, scratch string) error {
	if !isFile(filepath.Join(root, "hack", "gobuild", "main.go")) {
		return run(scratch, "go", "build", "-C", source, "-ldflags=-s -w", "-o", filepath.Join(scratch, "operon"), ".")
	}
	builder := filepath.Join(scratch, "gobuild")
	if err := run(scratch, "go", "build", "-C", root, "-o", builder, "./hack/gobuild"); err != nil {
		return err
	}
	return run(scratch, builder, "-C", source, "-ldflags=-s -w", "-o", "operon", ".")
}

// run runs a program of a build, which tells the user how it goes. Its error says what was wrong first.
func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+buildFlags(os.Getenv("GOFLAGS")), "GOWORK=", "CGO_ENABLED=0", "PWD="+dir)
	var said bytes.Buffer
	cmd.Stderr = io.MultiWriter(os.Stderr, &said)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", complaint(said.String()), err)
	}
	return nil
}

// compilerFlags are those of the command, as GOFLAGS has them.
func compilerFlags() string {
	var quoted []string
	for _, flag := range gobuild.CompilerFlags() {
		if strings.Contains(flag, " ") {
			flag = "'" + flag + "'"
		}
		quoted = append(quoted, flag)
	}
	return strings.Join(quoted, " ")
}

// buildFlags returns the GOFLAGS of the build: the user's, but for those that are about the user's own module or need cgo, and
// the compiler's unless the user has some.
func buildFlags(goflags string) string {
	flags := slices.DeleteFunc(splitFlags(goflags), func(flag string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, `'"-`), "=")
		return slices.Contains([]string{"mod", "modfile", "overlay", "race", "msan", "asan", "cover"}, name)
	})
	if !strings.Contains(goflags, "-gcflags") {
		flags = append(flags, compilerFlags())
	}
	return strings.Join(flags, " ")
}

// splitFlags splits GOFLAGS as the go command does: at white space, but for what is quoted. Flags keep their quotes.
func splitFlags(goflags string) []string {
	var flags []string
	for {
		goflags = strings.TrimLeft(goflags, " \t\r\n")
		if goflags == "" {
			return flags
		}
		end := strings.IndexAny(goflags, " \t\r\n")
		if quote := goflags[0]; quote == '\'' || quote == '"' {
			end = strings.IndexByte(goflags[1:], quote) + 2
			if end == 1 {
				end = -1
			}
		}
		if end < 0 {
			end = len(goflags)
		}
		flags = append(flags, goflags[:end])
		goflags = goflags[end:]
	}
}

// fingerprint changes when a source file below the checkout does.
func fingerprint(root string) (string, error) {
	hash := sha256.New()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bench" || name == "examples" || name == "docs") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, "_test.go") || filepath.Ext(name) != ".go" && name != "go.mod" && name != "go.sum" {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(hash, path, info.Size(), info.ModTime().UnixNano())
		return err
	})
	return hex.EncodeToString(hash.Sum(nil)), err
}

// complaint returns the first line that says what is wrong: not which package it is about, nor how far the build is.
func complaint(said string) string {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "operon: ") && !strings.HasPrefix(line, "go: downloading ") {
			return line
		}
	}
	return "it says nothing"
}
