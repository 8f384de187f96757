package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Journeys are what a person types from an empty directory to a resource that has converged, as scripts in testdata/journey. They have
// these commands besides those of package testscript:
//
//   - run ARGS... starts "operon run" in the current directory and waits until it says that the manager runs. KUBECONFIG is its plane's
//     from then on. A script may have one in each of several projects.
//   - until REGEXP ARGS... repeats "operon ARGS" until it succeeds and what it prints has the expression in it; "! until", until it fails
//     with that.
//   - end presses Ctrl-C on the run of the current directory, and demands that it ends well and leaves nothing to talk to. A script that does
//     not say it ends with it.
func TestJourneys(t *testing.T) {
	testscript.Run(t, journeys("testdata/journey"))
}

// patience bounds the steps of a journey, which would otherwise wait for ever: the first build of a project compiles client-go.
const patience = 10 * time.Minute

// journeys are the scripts in a directory.
func journeys(dir string) testscript.Params {
	return testscript.Params{
		Dir:   dir,
		Setup: setUpJourney,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run":   run,
			"until": until,
			"end":   func(ts *testscript.TestScript, _ bool, _ []string) { runOf(ts).end(ts) },
		},
		RequireExplicitExec: true,
	}
}

// setUpJourney gives a script the operon under test and a home of its own, with Go's caches where they always are, so that what
// journeys have in common is compiled once: with the flags that this test was compiled with, which are those of the command's own build.
func setUpJourney(env *testscript.Env) error {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	values := strings.Split(string(out), "\n")
	for i, name := range []string{"GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB"} {
		env.Setenv(name, values[i])
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		return err
	}
	env.Setenv("CHECKOUT", checkout)
	env.Setenv("TESTDATA", testdata)
	env.Setenv("GOPATH", filepath.Join(env.WorkDir, "gopath"))
	env.Setenv("GOFLAGS", os.Getenv("GOFLAGS"))
	env.Setenv("CGO_ENABLED", "0")
	env.Setenv("GOWORK", "off")
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	all := map[string]*inner{}
	env.Values[running{}] = all
	env.Defer(func() {
		for _, i := range all {
			i.kill()
		}
	})
	return nil
}

// running is the key of a script's inner loops, by their projects' directories.
type running struct{}

// runOf is the inner loop of the current directory.
func runOf(ts *testscript.TestScript) *inner {
	i := ts.Value(running{}).(map[string]*inner)[ts.MkAbs(".")]
	if i == nil {
		ts.Fatalf("nothing runs in %s", ts.MkAbs("."))
	}
	return i
}

// An inner is the inner loop of a script: "operon run".
type inner struct {
	cmd   *exec.Cmd
	said  *lockedBuffer
	ended chan struct{}
	err   error
}

func run(ts *testscript.TestScript, _ bool, args []string) {
	root := ts.MkAbs(".")
	i := &inner{said: &lockedBuffer{}, ended: make(chan struct{})}
	ts.Value(running{}).(map[string]*inner)[root] = i
	i.cmd = exec.Command(binary, append([]string{"run"}, args...)...)
	i.cmd.Dir, i.cmd.Stdout, i.cmd.Stderr = root, i.said, i.said
	i.cmd.Env = environment(ts, root)
	if err := i.cmd.Start(); err != nil {
		i.cmd = nil
		ts.Fatalf("operon run: %v", err)
	}
	go func() {
		i.err = i.cmd.Wait()
		close(i.ended)
	}()
	ts.Setenv("KUBECONFIG", filepath.Join(root, "bin", "run.kubeconfig"))
	began := time.Now()
	for !strings.Contains(i.said.String(), "the manager runs") {
		select {
		case <-i.ended:
			ts.Fatalf("operon run ended early: %v\n%s", i.err, i.said)
		case <-time.After(20 * time.Millisecond):
			if time.Since(began) > patience {
				ts.Fatalf("the manager does not run\n%s", i.said)
			}
		}
	}
}

// environment is a script's, of which testscript has no list, as far as the command needs it.
func environment(ts *testscript.TestScript, dir string) []string {
	env := []string{"PWD=" + dir}
	for _, name := range []string{
		"PATH", "HOME", "TMPDIR", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB", "GOPATH", "GOFLAGS", "CGO_ENABLED", "GOWORK", "ENABLE_WEBHOOKS",
	} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: until REGEXP ARGS...")
	}
	wanted, err := regexp.Compile(args[0])
	ts.Check(err)
	i := runOf(ts)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		cmd := exec.CommandContext(ctx, binary, args[1:]...)
		cmd.Dir = ts.MkAbs(".")
		cmd.Env = append(environment(ts, cmd.Dir), "KUBECONFIG="+ts.Getenv("KUBECONFIG"))
		out, err := cmd.CombinedOutput()
		if (err != nil) == neg && wanted.Match(out) {
			return
		}
		select {
		case <-i.ended:
			ts.Fatalf("operon run ended early: %v\n%s", i.err, i.said)
		case <-ctx.Done():
			ts.Fatalf("operon %s: %v\n%s\n%s", strings.Join(args[1:], " "), err, out, i.said)
		case <-time.After(100 * time.Millisecond): // each attempt is a process, whatever is asked for
		}
	}
}

// end presses Ctrl-C.
func (i *inner) end(ts *testscript.TestScript) {
	i.cmd.Process.Signal(os.Interrupt)
	select {
	case <-i.ended:
	case <-time.After(patience):
		ts.Fatalf("operon run does not end\n%s", i.said)
	}
	cmd := i.cmd
	i.cmd = nil
	if i.err != nil {
		ts.Fatalf("operon run ended with %v\n%s", i.err, i.said)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "bin", "run.kubeconfig")); err == nil {
		ts.Fatalf("operon run has left the kubeconfig of a plane that is gone")
	}
}

// kill ends what a script that failed has left behind.
func (i *inner) kill() {
	if i.cmd == nil {
		return
	}
	i.cmd.Process.Signal(os.Interrupt)
	select {
	case <-i.ended:
	case <-time.After(time.Minute):
		i.cmd.Process.Kill() // its plane goes with it
		<-i.ended
	}
	i.cmd = nil
}

// BenchmarkFromNothingToConverged measures init, create api, generate, install and the sample converged under run, with Go's caches
// warm from the second round on.
func BenchmarkFromNothingToConverged(b *testing.B) {
	var seconds []float64
	for b.Loop() {
		params := journeys("")
		params.Files = []string{"testdata/journey/memcached-image.txtar"}
		began := time.Now()
		testscript.RunT(traveller{b}, params)
		seconds = append(seconds, time.Since(began).Seconds())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(seconds), "s/converged")
}

// A traveller goes a journey in a benchmark.
type traveller struct{ *testing.B }

func (t traveller) Parallel()                             {}
func (t traveller) Verbose() bool                         { return testing.Verbose() }
func (t traveller) Run(_ string, f func(tt testscript.T)) { f(t) }
