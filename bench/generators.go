package main

import (
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
	"text/template"

	"github.com/operon-dev/operon/bench/report"
)

// controllerGenModule pins controller-gen, relative to the directory of this module, from which the bench is run.
var controllerGenModule = filepath.Join("..", "cmd", "operon", "generate", "difftest", "testdata", "controller-gen")

// kinds are those of the project that generators are measured on; the published packages come from the module proxy.
var kinds = []string{"Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Lambda", "Theta", "Iota", "Kappa"}

// corpus is a directory of Go source that generators work on, and their arguments.
type corpus struct {
	name  string
	args  []string
	write func(ctx context.Context, dir string) error
}

var corpora = []corpus{
	{"ten types", []string{"object", "crd", "rbac:roleName=manager", "webhook", "paths=./..."}, writeTenTypes},
	{"Gateway API v1.6.0", []string{"object", "crd", "paths=./apis/..."}, published("sigs.k8s.io/gateway-api@v1.6.0")},
	{"Flux source-controller v1.9.5", []string{"object", "crd", "paths=./..."}, published("github.com/fluxcd/source-controller/api@v1.9.5")},
}

// generatorRows measures "operon controller-gen" and controller-gen with the same arguments, on copies of the same source.
// Cold is without anything remembered from earlier runs, warm is again with nothing changed; controller-gen has no such
// difference. Go's build cache is warm in both. Peak memory is what the kernel calls the maximum resident set: the process's own memory and
// the pages of its program that it has mapped at the time, which the operon binary, four times as large as the other, keeps few. Of a
// process and those that it starts, as controller-gen starts the go command, it is the largest one's and not the sum.
func generatorRows(ctx context.Context, env *environment) (rows []report.Row, err error) {
	operon, err := operonCommand()
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "operon-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	controllerGen := filepath.Join(scratch, "controller-gen")
	build := exec.CommandContext(ctx, "go", "build", "-o", controllerGen, "sigs.k8s.io/controller-tools/cmd/controller-gen")
	build.Dir, build.Env = controllerGenModule, append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build controller-gen: %w\n%s", err, out)
	}
	chosen := corpora
	if env.quick {
		chosen = corpora[:1]
	}
	for i, c := range chosen {
		measured, err := c.measure(ctx, filepath.Join(scratch, fmt.Sprint(i)), operon, controllerGen, env.plan(3, 2).oneOf(len(chosen)-i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

// warming is the number of a round that fills the caches of Go and of the disk, and does not count.
const warming = -1

// measure returns the rows of one corpus.
func (c corpus) measure(ctx context.Context, scratch, operon, controllerGen string, p plan) ([]report.Row, error) {
	ours, theirs := filepath.Join(scratch, "operon"), filepath.Join(scratch, "controller-gen")
	for _, dir := range []string{ours, theirs} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		if err := c.write(ctx, dir); err != nil {
			return nil, err
		}
	}
	var cold, warm, peer struct{ wall, memory []float64 }
	measure := func(round int) error {
		environment := []string{"env", "GOWORK=off", "GOFLAGS=-mod=mod"}
		runs := []struct {
			into  *struct{ wall, memory []float64 }
			dir   string
			stale bool
			line  []string
		}{
			{&peer, theirs, true, append(environment[:3:3], controllerGen)},
			{&cold, ours, true, append(environment[:3:3], "OPERON_GENERATE_CACHE="+filepath.Join(scratch, fmt.Sprint("cache-", round)), operon, "controller-gen")},
			{&warm, ours, false, append(environment[:3:3], "OPERON_GENERATE_CACHE="+filepath.Join(scratch, fmt.Sprint("cache-", round)), operon, "controller-gen")},
		}
		for _, run := range runs {
			if run.stale {
				if err := makeStale(run.dir); err != nil {
					return err
				}
			}
			wall, memory, err := runProgram(ctx, run.dir, append(run.line, c.args...)...)
			if err != nil {
				return err
			}
			if round >= 0 {
				run.into.wall, run.into.memory = append(run.into.wall, wall), append(run.into.memory, memory)
			}
		}
		return nil
	}
	if err := measure(warming); err != nil {
		return nil, err
	}
	for round := range p.rounds() {
		if err := measure(round); err != nil {
			return nil, err
		}
	}
	if err := sameTree(ours, theirs); err != nil {
		return nil, err
	}
	note := strings.Join(c.args, " ")
	return p.of(
		report.Row{Name: "Generate, " + c.name + ", cold", Unit: report.Nanoseconds, Ours: cold.wall, Peer: peer.wall, PeerName: "controller-gen v0.23.0", Note: note}.Wants(report.AtMostRatio(0.3)),
		report.Row{Name: "Generate, " + c.name + ", cold: peak memory", Unit: report.Bytes, Ours: cold.memory, Peer: peer.memory, PeerName: "controller-gen v0.23.0", Note: note}.Wants(report.AtMostRatio(0.4)),
		report.Row{Name: "Generate, " + c.name + ", nothing changed", Unit: report.Nanoseconds, Ours: warm.wall, Peer: peer.wall, PeerName: "controller-gen v0.23.0", Note: note}.Wants(report.AtMostRatio(0.1)),
	), nil
}

// writeTenTypes makes a project of the kinds, in a module that requires what controller-gen's does.
func writeTenTypes(_ context.Context, dir string) error {
	kind, err := template.New("kind.go.tmpl").Funcs(template.FuncMap{"lower": strings.ToLower}).ParseFiles(filepath.Join("testdata", "kind.go.tmpl"))
	if err != nil {
		return err
	}
	api := filepath.Join(dir, "api", "v1")
	if err := os.MkdirAll(api, 0o755); err != nil {
		return err
	}
	for _, name := range kinds {
		var source bytes.Buffer
		if err := kind.Execute(&source, name); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(api, strings.ToLower(name)+".go"), source.Bytes(), 0o644); err != nil {
			return err
		}
	}
	const group = "// Package v1 has ten kinds.\n//\n// +kubebuilder:object:generate=true\n// +groupName=bench.example.com\npackage v1\n"
	if err := os.WriteFile(filepath.Join(api, "doc.go"), []byte(group), 0o644); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(controllerGenModule, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), bytes.ReplaceAll(data, []byte("controller-gen.test"), []byte("example.com/ten")), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// published writes a copy of a module as the proxy has it.
func published(module string) func(context.Context, string) error {
	return func(ctx context.Context, dir string) error {
		download := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
		download.Dir, download.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		out, err := download.Output()
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
		return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.Chmod(path, 0o755)
			}
			return os.Chmod(path, 0o644)
		})
	}
}

const staleMark = "\n// stale\n"

// makeStale adds a line to what is generated, so that it has to be written again.
func makeStale(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(d.Name(), "zz_generated.deepcopy") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, append(bytes.TrimSuffix(data, []byte(staleMark)), staleMark...), 0o644)
	})
}

// sameTree fails where the two programs have not written the same, but for the version that they sign with.
func sameTree(ours, theirs string) error {
	return filepath.WalkDir(theirs, func(path string, d fs.DirEntry, err error) error {
		generated := filepath.Ext(path) == ".yaml" || strings.HasPrefix(d.Name(), "zz_generated.")
		if err != nil || d.IsDir() || !generated {
			return err
		}
		name, err := filepath.Rel(theirs, path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(ours, name))
		if err != nil {
			return err
		}
		if !bytes.Equal(unsigned(got), unsigned(want)) {
			return fmt.Errorf("%s: the two programs wrote different things", name)
		}
		return nil
	})
}

// unsigned takes the line with the program's version out of a manifest.
func unsigned(file []byte) []byte {
	var rest [][]byte
	for line := range bytes.Lines(file) {
		if !bytes.Contains(line, []byte("controller-gen.kubebuilder.io/version:")) {
			rest = append(rest, line)
		}
	}
	return bytes.Join(rest, nil)
}
