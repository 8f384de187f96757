package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// ask has the go command list the packages that the main modules are built from, downloading what is missing, and looks path up there.
func (r *resolver) ask(path string) (string, error) {
	r.listOnce.Do(func() { r.listed, r.unlisted, r.listErr = r.list() })
	if dir := r.listed[path]; dir != "" {
		return dir, nil
	}
	if r.listErr != nil {
		return "", fmt.Errorf("package %s: %w", path, r.listErr)
	}
	if why := r.unlisted[path]; why != "" && !strings.HasPrefix(why, "no required module provides package") {
		return "", fmt.Errorf("package %s: %s", path, why)
	}
	return "", fmt.Errorf("package %s is in none of the modules that go.mod requires: go get %s adds it", path, path)
}

// list is where the packages are, and why others are nowhere.
func (r *resolver) list() (listed, unlisted map[string]string, err error) {
	args := []string{"list", "-e", "-deps", "-json=ImportPath,Dir,Error", "-tags=" + strings.Join(r.tags, ",")}
	for _, m := range r.mains {
		args = append(args, m.path+"/...")
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = r.dir
	cmd.Env = r.env.environ()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(stderr.String()); text != "" {
			return nil, nil, fmt.Errorf("go list: %s", text)
		}
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	listed, unlisted = map[string]string{}, map[string]string{}
	for dec := json.NewDecoder(&stdout); ; {
		var pkg struct {
			ImportPath, Dir string
			Error           *struct{ Err string }
		}
		err := dec.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			return listed, unlisted, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("go list: %w", err)
		}
		listed[pkg.ImportPath] = pkg.Dir
		if pkg.Error != nil {
			unlisted[pkg.ImportPath] = pkg.Error.Err
		}
	}
}
