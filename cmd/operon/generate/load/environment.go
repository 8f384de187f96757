package load

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// environment answers for Go's variables: from the process's environment first, then from the file that "go env -w" writes.
type environment struct {
	vars map[string]string
	list []string // nil: the process's own
}

func newEnvironment(list []string) (environment, error) {
	env := environment{vars: map[string]string{}, list: list}
	if list == nil {
		list = os.Environ()
	}
	for _, kv := range list {
		if k, v, ok := strings.Cut(kv, "="); ok && v != "" {
			env.vars[k] = v
		}
	}
	file := env.vars["GOENV"]
	if file == "off" {
		return env, nil
	}
	if file == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return env, nil //nolint:nilerr // without a home there is no such file
		}
		file = filepath.Join(dir, "go", "env")
	}
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return env, nil
	}
	if err != nil {
		return env, fmt.Errorf("go's environment file: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		k, v, ok := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		if _, set := env.vars[k]; ok && !set && !strings.HasPrefix(k, "#") {
			env.vars[k] = v
		}
	}
	return env, lines.Err()
}

func (e environment) get(name, fallback string) string {
	if v := e.vars[name]; v != "" {
		return v
	}
	return fallback
}

// flag returns a setting of GOFLAGS.
func (e environment) flag(name string) string {
	for f := range strings.FieldsSeq(e.vars["GOFLAGS"]) {
		if v, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), name+"="); ok {
			return v
		}
	}
	return ""
}

// goroot is the root of the Go installation, "" where there is none.
func (e environment) goroot() string {
	if root := e.vars["GOROOT"]; root != "" {
		return root
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(goTool); err == nil {
		goTool = real
	}
	root := filepath.Dir(filepath.Dir(goTool))
	if _, err := os.Stat(filepath.Join(root, "src", "fmt")); err == nil {
		return root
	}
	// A wrapper, such as those of version managers: ask it.
	out, err := exec.Command(goTool, "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (e environment) moduleCache() string {
	if dir := e.vars["GOMODCACHE"]; dir != "" {
		return dir
	}
	gopath := e.vars["GOPATH"]
	if list := filepath.SplitList(gopath); len(list) > 0 {
		gopath = list[0]
	}
	if gopath == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		gopath = filepath.Join(home, "go")
	}
	return filepath.Join(gopath, "pkg", "mod")
}

// environ is the environment for a child process.
func (e environment) environ(extra ...string) []string {
	list := e.list
	if list == nil {
		list = os.Environ()
	}
	return append(slices.Clone(list), extra...)
}
