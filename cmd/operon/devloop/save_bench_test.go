package devloop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/operon-dev/operon/cmd/operon/devloop/rebuild"
	"github.com/operon-dev/operon/cmd/operon/generate/recipe"
)

// BenchmarkSave measures how long a person waits, with everything warm, from saving a file of a project that init and create api have made
// until the new manager's probe says that it is ready. It prints the median, and those of its parts:
//
//	OPERON=$PWD/../../bin/operon go test -run '^$' -bench Save -benchtime 5x ./devloop
//
// Each save changes what the code does; one of the types also changes the CRD and the deep copies. At the end two builds of their own tell what
// the loop's way of building takes of the processors (rebuild-cpu), and what go build does (go-build-cpu), whose parts are compile and link: on a
// machine that is busy with other things these are the figures that still tell one build from another.
func BenchmarkSave(b *testing.B) {
	for _, saved := range []struct{ name, path, old, new string }{
		{"controller", "internal/controller/shop_controller.go", `"Deleting", "Delete", "Shop`, `"Deleting", "Delete", "Shop %d`},
		{"types", "api/v1/shop_types.go", "type ShopSpec struct {\n", "type ShopSpec struct {\n\t// added is new.\n\t// +optional\n\tAdded%d []string `json:\"added%[1]d,omitempty\"`\n"},
	} {
		b.Run(saved.name, func(b *testing.B) {
			p := newScaffold(b)
			text, err := os.ReadFile(filepath.Join(p.root, saved.path))
			if err != nil {
				b.Fatal(err)
			}
			if strings.Count(string(text), saved.old) != 1 {
				b.Fatalf("%s has not %q, once", saved.path, saved.old)
			}
			saves := 0
			save := func() {
				saves++
				if err := os.WriteFile(filepath.Join(p.root, saved.path), []byte(strings.Replace(string(text), saved.old, fmt.Sprintf(saved.new, saves), 1)), 0o666); err != nil {
					b.Fatal(err)
				}
			}
			p.start(b)
			save() // the first save warms what the start does not
			p.await(b)

			took := map[string][]time.Duration{}
			for b.Loop() {
				began := time.Now()
				save()
				cycle := p.await(b)
				took["save"] = append(took["save"], time.Since(began))
				took["notice"] = append(took["notice"], cycle.began.Sub(began))
				took["serve"] = append(took["serve"], time.Since(cycle.last))
				for _, part := range cycle.parts {
					took[part.name] = append(took[part.name], part.took)
				}
			}
			for name, all := range took {
				slices.Sort(all)
				b.ReportMetric(all[len(all)/2].Seconds(), name+"-s")
			}
			b.ReportMetric(0, "ns/op")

			b.ReportMetric(p.rebuild(b, save).Seconds(), "rebuild-cpu-s")
			for name, d := range p.compileAndLink(b) {
				b.ReportMetric(d.Seconds(), name+"-s")
			}
		})
	}
}

// A scaffold is a project as the command makes it, under a loop.
type scaffold struct {
	root, operon string
	ready        string // the URL of the manager's probe
	said, out    *transcript
	cycles       chan *stopwatch
}

func newScaffold(b *testing.B) *scaffold {
	b.Helper()
	operon := os.Getenv("OPERON")
	if operon == "" {
		b.Skip("OPERON does not name the operon binary: make build makes bin/operon")
	}
	b.Setenv("GOWORK", "off")
	p := &scaffold{root: b.TempDir(), operon: operon, said: newTranscript(), out: newTranscript(), cycles: make(chan *stopwatch, 1)}
	for _, args := range [][]string{
		{"init", "--domain", "example.com", "--repo", "example.com/shop"},
		{"create", "api", "--group", "apps", "--version", "v1", "--kind", "Shop", "--image", "nginx:1", "--resource", "--controller"},
	} {
		cmd := exec.Command(operon, args...)
		cmd.Dir = p.root
		if said, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("operon %s: %v\n%s", args[0], err, said)
		}
	}
	return p
}

// start runs the loop until the benchmark ends, and returns when the manager is ready.
func (p *scaffold) start(b *testing.B) {
	b.Helper()
	port, err := freePort()
	if err != nil {
		b.Fatal(err)
	}
	p.ready = fmt.Sprintf("http://127.0.0.1:%d/readyz", port)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{
			Root: p.root, Name: "shop", Operon: p.operon, Nodes: 1, Package: "./cmd", WebhookPort: defaultWebhookPort,
			Args: []string{fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", port)},
			Generate: func(ctx context.Context, root string, stderr io.Writer) error {
				return recipe.Run(ctx, p.operon, root, stderr)
			},
			Stdout: p.out, Stderr: p.said,
			measured: func(cycle *stopwatch) { p.cycles <- cycle },
		})
	}()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	p.await(b)
}

// await returns when a cycle is over and its manager is ready, with the cycle's times.
func (p *scaffold) await(b *testing.B) *stopwatch {
	b.Helper()
	deadline := time.After(10 * time.Minute) // the first build may compile everything
	var cycle *stopwatch
	select {
	case cycle = <-p.cycles:
	case <-deadline:
		b.Fatalf("no cycle came to its end:\n%s", p.said.String())
	}
	for {
		if answer, err := http.Get(p.ready); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return cycle
			}
		}
		select {
		case <-deadline:
			b.Fatalf("the manager is not ready:\n%s%s", p.said.String(), p.out.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// rebuild saves, and returns what a build by a plan takes of the processors then.
func (p *scaffold) rebuild(b *testing.B, save func()) time.Duration {
	b.Helper()
	builder := &rebuild.Builder{
		Dir: p.root, Package: "./cmd", Output: filepath.Join(b.TempDir(), "manager"), Temp: b.TempDir(), Flags: buildFlags, Env: buildEnv,
	}
	defer builder.Stop()
	build := func() {
		if err := builder.Build(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	build()
	builder.Plan(b.Context())
	build()
	save()
	p.await(b) // the loop is at rest again
	before := childrenTime(b)
	build()
	return childrenTime(b) - before
}

// childrenTime is the processors' time of all processes that this one has started and that have ended.
func childrenTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// compileAndLink calls go build and returns what the compilers, one after the other, and the linker took, and the processors' time of
// all.
func (p *scaffold) compileAndLink(b *testing.B) map[string]time.Duration {
	b.Helper()
	graph := filepath.Join(b.TempDir(), "graph.json")
	cmd := exec.Command("go", slices.Concat([]string{"build"}, buildFlags, []string{"-debug-actiongraph", graph, "-o", filepath.Join(b.TempDir(), "manager"), "./cmd"})...)
	cmd.Dir, cmd.Env = p.root, append(os.Environ(), buildEnv...)
	if said, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, said)
	}
	used := cmd.ProcessState // the compilers' and the linker's share too: the go command has waited for them
	var actions []struct {
		Mode    string
		CmdReal time.Duration
	}
	text, err := os.ReadFile(graph)
	if err = errors.Join(err, json.Unmarshal(text, &actions)); err != nil {
		b.Fatal(err)
	}
	took := map[string]time.Duration{"go-build-cpu": used.UserTime() + used.SystemTime()}
	for _, action := range actions {
		switch action.Mode {
		case "build":
			took["compile"] += action.CmdReal
		case "link":
			took["link"] += action.CmdReal
		}
	}
	return took
}
