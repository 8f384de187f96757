package controlplane

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	module = "github.com/operon-dev/operon"
	advice = "build it with `make build` in a checkout of Operon and `export OPERON=<checkout>/bin/operon`, or put it on PATH"
)

// findOperon returns the path of the operon command: the one in the directory
// of assets, if any; or the one that OPERON names; or the one on PATH; or
// one that is built from the checkout that holds the Operon module in use.
func findOperon(dir string) (string, error) {
	if assets := assetsDir(dir); assets != "" {
		if path := filepath.Join(assets, "operon"); isFile(path) {
			return filepath.Abs(path)
		}
	}
	if path := os.Getenv(envOperon); path != "" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		if _, err := exec.LookPath(abs); err != nil {
			return "", fmt.Errorf("OPERON=%s does not name the operon command (%w): %s", path, err, advice)
		}
		return abs, nil
	}
	if path, err := exec.LookPath("operon"); err == nil {
		return filepath.Abs(path)
	}
	source, err := commandSource()
	if err != nil {
		return "", fmt.Errorf("the operon command, which runs the control plane of tests, was not found (%w): %s", err, advice)
	}
	return build(source)
}

// commandSource returns the directory of the command's module, where the
// Operon module that the test uses is a checkout.
func commandSource() (string, error) {
	list := exec.Command("go", "list", "-m", "-json", module)
	var out, errs bytes.Buffer
	list.Stdout, list.Stderr = &out, &errs
	if err := list.Run(); err != nil {
		return "", fmt.Errorf("go list -m %s: %w %s", module, err, firstLine(errs.String()))
	}
	var m struct{ Dir, Version string }
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		return "", fmt.Errorf("go list -m %s: %w", module, err)
	}
	source := filepath.Join(m.Dir, "cmd", "operon")
	if m.Dir == "" || !isFile(filepath.Join(source, "go.mod")) {
		return "", fmt.Errorf("%s %s is not a checkout that holds the command's source", module, m.Version)
	}
	return source, nil
}

// build builds the command into the user's cache, unless it is there and none of its source has changed since.
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
	lock, err := awaitLock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	state, err := fingerprint(filepath.Join(source, "..", ".."))
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "operon")
	stamp := filepath.Join(dir, "source")
	if built, err := os.ReadFile(stamp); err == nil && string(built) == state && isFile(path) {
		return path, nil
	}
	fmt.Fprintf(os.Stderr, "envtest: building the operon command in %s; the first time this takes minutes\n", source)
	compile := exec.Command("go", "build", "-ldflags=-s -w", "-o", path+".new", ".")
	compile.Dir = source
	compile.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=", "CGO_ENABLED=0", "PWD="+source)
	if out, err := compile.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the operon command cannot be built in %s (%w): %s; its last words: %s", source, err, advice, lastLine(string(out)))
	}
	if err := os.Rename(path+".new", path); err != nil {
		return "", err
	}
	return path, os.WriteFile(stamp, []byte(state), 0o644)
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

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
