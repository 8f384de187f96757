package gobuild

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLineFollowsTheBuild(t *testing.T) {
	newMeter := func(terminal bool) *meter {
		return &meter{name: "bin/x", terminal: terminal, begun: map[string]bool{}}
	}
	m := newMeter(false)
	check := func(want string) {
		t.Helper()
		if got := m.line(62 * time.Second); got != want {
			t.Errorf("line %q, want %q", got, want)
		}
	}
	check("bin/x: looking for what has changed  1m2s")
	m.download("example.com/m v1.2.3")
	check("bin/x: downloading module 1  1m2s  example.com/m v1.2.3")
	m.compile("a")
	check("bin/x: compiling package 1  1m2s  a")
	m.setStale([]string{"a", "b", "c", "main"}, "main")
	check("bin/x:  25%  1 of 4  1m2s  a")
	m.compile("b")
	check("bin/x:  50%  2 of 4  1m2s  b")
	m.compile("c")
	m.compile("main")
	check("bin/x:  99%  4 of 4  1m2s  linking")

	m = newMeter(true)
	m.compile("k8s.io/" + strings.Repeat("long/", 20) + "name")
	m.setStale([]string{"main"}, "main")
	if got := m.line(0); len(got) != lineWidth || !strings.HasPrefix(got, "bin/x: ##########----------  50%") || !strings.HasSuffix(got, "/name") {
		t.Errorf("line %q, want %d columns that begin with the bar and end with the package", got, lineWidth)
	}
}

func TestDownloadsAreCountedAndOtherMessagesPassedOn(t *testing.T) {
	var out bytes.Buffer
	m := startMeter(&out, "x", 0)
	readMessages(strings.NewReader("go: downloading a v1\ngo: trouble\ngo: downloading b v2\nlast"), m)
	m.stop()
	if m.downloads != 2 || m.module != "b v2" {
		t.Errorf("%d downloads, the last %q", m.downloads, m.module)
	}
	if got := out.String(); got != "go: trouble\nlast" {
		t.Errorf("passed on %q", got)
	}
}

// slow makes "go" a program that takes its time: it says that it compiles a package, and waits until it is interrupted.
func slow(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	script := `#!/bin/sh
case $1 in
list) echo example.com/p true false; exit ;;
esac
trap 'echo "go: interrupted" >&2; exit 1' INT
printf '%s\n' '{"ImportPath":"example.com/p","Action":"build-output","Output":"example.com/p\n"}'
touch begun
while :; do sleep 0.05; done
`
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

func TestTheEndOfTheContextInterruptsGo(t *testing.T) {
	dir := slow(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	var out bytes.Buffer
	result, err := Build{Dir: dir, Patience: time.Hour}.Run(ctx, &out)
	if err == nil {
		t.Fatal("no error")
	}
	if result.Compiled != 1 || result.Said != "go: interrupted\n" || out.String() != result.Said {
		t.Errorf("compiled %d, said %q, showed %q: want 1 and what go said of the interrupt", result.Compiled, result.Said, &out)
	}
}

func TestRoomyLeavesSettingsThatAreThere(t *testing.T) {
	if got := fmt.Sprint(Roomy([]string{"A=b"})); got != "[A=b GOGC=off GOMEMLIMIT=2GiB]" {
		t.Error(got)
	}
	if got := fmt.Sprint(Roomy([]string{"GOGC=50"})); got != "[GOGC=50]" {
		t.Error(got)
	}
}
