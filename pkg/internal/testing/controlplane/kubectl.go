package controlplane

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// KubeCtl runs kubectl.
type KubeCtl struct {
	// Path is the binary. Empty means kubectl on PATH.
	Path string
	// Opts are flags that every run is given before its arguments, such as
	// --kubeconfig.
	Opts []string
}

// Run runs kubectl with Opts and the arguments and returns what it wrote, which
// it does when kubectl fails, too. The error holds kubectl's own words.
func (k *KubeCtl) Run(args ...string) (stdout, stderr io.Reader, err error) {
	path := k.Path
	if path == "" {
		path = "kubectl"
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(path, append(append([]string{}, k.Opts...), args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return &out, &errs, err
}
