package difftest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"
)

// Case is a tree of source and the arguments to generate from it.
type Case struct {
	Name string
	// Runs are argument lists, run one after the other in the same tree, each starting from the original state.
	Runs [][]string
	// Refused says that controller-gen lets the case's mistake pass and Operon must not.
	Refused bool
	// Core says that the ordinary test takes the case.
	Core bool
	// Write makes the tree, in a directory that exists.
	Write func(ctx context.Context, dir string) error
}

// Small returns the cases of a directory of txtar archives. An archive's comment holds, a line each, "run:" and arguments
// (a line that begins with a space goes on with the one before), "refused" where only Operon sees the mistake, and "all" where
// the case is not for the ordinary test. The packages belong to a module that can import what the module in testdata/controller-gen requires.
func Small(dir string) ([]Case, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			return nil, err
		}
		c := Case{Name: strings.TrimSuffix(filepath.Base(name), ".txtar"), Core: true}
		for line := range strings.Lines(string(archive.Comment)) {
			args, isRun := strings.CutPrefix(line, "run:")
			switch {
			case isRun:
				c.Runs = append(c.Runs, strings.Fields(args))
			case strings.HasPrefix(line, " ") && len(c.Runs) > 0:
				last := len(c.Runs) - 1
				c.Runs[last] = append(c.Runs[last], strings.Fields(line)...)
			case strings.TrimSpace(line) == "refused":
				c.Refused = true
			case strings.TrimSpace(line) == "all":
				c.Core = false
			}
		}
		if len(c.Runs) == 0 {
			return nil, fmt.Errorf("%s: the comment has no run: line", name)
		}
		c.Write = func(_ context.Context, dir string) error { return writeSmall(archive, dir) }
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("%s: no archive in it", dir)
	}
	return cases, nil
}

func writeSmall(archive *txtar.Archive, dir string) error {
	files := append([]txtar.File(nil), archive.Files...)
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join("testdata", "controller-gen", name))
		if err != nil {
			return err
		}
		files = append(files, txtar.File{Name: name, Data: bytes.ReplaceAll(data, []byte("controller-gen.test"), []byte("example.com/small"))})
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Published returns the cases of a list of modules. Each line holds a module, its version, and arguments; a + at the
// beginning marks the core.
func Published(list string) ([]Case, error) {
	data, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	var cases []Case
	scanner := bufio.NewScanner(bytes.NewReader(data))
	for scanner.Scan() {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line, core := strings.CutPrefix(line, "+")
		fields := strings.Fields(line)
		if len(fields) < 3 {
			return nil, fmt.Errorf("%s: %q: want a module, a version and arguments", list, line)
		}
		module := fields[0] + "@" + fields[1]
		cases = append(cases, Case{
			Name:  strings.ReplaceAll(module, "/", "_"),
			Core:  core,
			Runs:  [][]string{fields[2:]},
			Write: func(ctx context.Context, dir string) error { return writeModule(ctx, module, dir) },
		})
	}
	return cases, scanner.Err()
}

// writeModule copies a module out of the module cache, and makes its generated files stale, so that whoever leaves them
// alone is found out.
func writeModule(ctx context.Context, module, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	var found struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &found); jsonErr != nil {
		return errors.Join(err, jsonErr)
	}
	if found.Error != "" {
		return fmt.Errorf("download %s: %s", module, found.Error)
	}
	if err := os.CopyFS(dir, os.DirFS(found.Dir)); err != nil {
		return err
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), "zz_generated.deepcopy") {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, append(data, "\n// stale\n"...), 0o644)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return dropLocalReplacements(filepath.Join(dir, "go.mod"))
}

// dropLocalReplacements removes what a published go.mod says about directories that were not published with it.
func dropLocalReplacements(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := modfile.Parse(path, data, nil)
	if err != nil {
		return err
	}
	for _, r := range file.Replace {
		if modfile.IsDirectoryPath(r.New.Path) {
			if err := file.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return err
			}
		}
	}
	file.Cleanup()
	if data, err = file.Format(); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
