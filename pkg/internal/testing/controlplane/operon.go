package controlplane

import (
	"bytes"
	"encoding/json"
	"fmt"
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

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
