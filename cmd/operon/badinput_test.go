package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBadInputGetsOneSentenceAndANonZeroExit(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	taken := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)

	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "precious: true\n")
	foreign := t.TempDir()
	write(t, filepath.Join(foreign, "thesis.txt"), "years of work")
	newer := t.TempDir()
	write(t, filepath.Join(newer, "operon.json"), `{"layout": 99}`)
	fresh := filepath.Join(t.TempDir(), "fresh")

	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown command", []string{"clutser"}, "not a command of operon: did you mean cluster?"},
		{"help of none", []string{"help", "depoly"}, "did you mean deploy?"},
		{"unknown flag", []string{"cluster", "--colour"}, "unknown flag: --colour"},
		{"argument", []string{"cluster", "dev"}, "takes no arguments"},
		{"unknown shell", []string{"completion", "tcsh"}, "take bash, zsh, fish or powershell"},
		{"help on nothing", []string{"help", "nothing"}, "not a command"},
		{"flag of another type", []string{"edit", "--multigroup=perhaps"}, `--multigroup "perhaps": give true or false`},
		{"argument of version", []string{"version", "x"}, "only flags"},
		{"unknown form of output", []string{"version", "-o", "yaml"}, "give text or json"},
		{"nodes is not a number", []string{"cluster", "--nodes", "many"}, `"many"`},
		{"negative nodes", []string{"cluster", "--nodes", "-1"}, "--nodes 0 or more"},
		{"impossible port", []string{"cluster", "--port", "70000"}, "port 70000"},
		{"idle time of a cluster that is not lent", []string{"cluster", "--idle", "1m"}, "--lend"},
		{"impossible verbosity", []string{"cluster", "-v", "11"}, "-v 11"},
		{"port in use", []string{"cluster", "--port", taken, "--data-dir", fresh}, "port " + taken + " is in use"},
		{"data directory that cannot be created", []string{"cluster", "--data-dir", "/proc/operon"}, "cannot be created"},
		{"home directory that the shell did not write", []string{"cluster", "--data-dir=~/dev"}, "write $HOME"},
		{"data directory that is a file", []string{"cluster", "--data-dir", file}, "is a file"},
		{"data directory of somebody else", []string{"cluster", "--data-dir", foreign}, "was not made by operon"},
		{"data directory of a newer operon", []string{"cluster", "--data-dir", newer}, "layout 99"},
		{"kubeconfig in a directory that is not there", []string{"cluster", "--kubeconfig", filepath.Join(fresh, "config")}, "cannot be written"},
		{"kubeconfig that is a directory", []string{"cluster", "--kubeconfig", foreign}, "is a directory"},
		{"kubeconfig that is something else", []string{"cluster", "--kubeconfig", file}, "not a kubeconfig"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			stderr := fail(t, tmp, tt.args...)
			if !strings.Contains(stderr, tt.want) {
				t.Errorf("standard error %q does not say %q", stderr, tt.want)
			}
			if n := strings.Count(strings.TrimSpace(stderr), "\n"); n != 0 {
				t.Errorf("standard error has %d lines, want one:\n%s", n+1, stderr)
			}
			nothingIn(t, tmp)
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(fresh); !os.IsNotExist(err) {
			t.Errorf("a failed start left %s: %v", fresh, err)
		}
		if entries, err := os.ReadDir(foreign); err != nil || len(entries) != 1 {
			t.Errorf("a foreign directory was touched: %v %v", entries, err)
		}
	})
}

// Kubernetes' scheduler would wait for ever, and say so in its log alone.
func TestAFeatureGateWithoutItsAPIIsRefusedWithTheWayOut(t *testing.T) {
	t.Parallel()
	said := fail(t, t.TempDir(), "cluster", "--kube-apiserver-arg", "feature-gates=GenericWorkload=true")
	if want := "--kube-apiserver-arg runtime-config=scheduling.k8s.io/"; !strings.Contains(said, want) {
		t.Errorf("standard error %q does not say %q", said, want)
	}
}

func TestResultsThatCannotBePrintedAreAFailure(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("the system has no device that is always full")
	}
	t.Cleanup(func() { full.Close() })
	for _, args := range [][]string{
		{"--help"}, {"help", "create"}, {"create", "api", "--help"}, {"version"}, {"version", "-o", "json"}, {"completion", "fish"},
		{"setup-envtest", "list"}, {"init", "--repo", "example.com/x"}, {"create", "api", "--group", "g", "--version", "v1", "--kind", "Kind"},
		{"generate", "--show"}, {"kubectl", "version", "--client"}, {"kubectl", "kustomize"}, {"kubectl", "create", "--help"},
		{"kustomize", "version"}, {"kustomize", "build"}, {"kustomize", "--help"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			dir := t.TempDir()
			if verb := args[0]; verb == "create" || verb == "generate" {
				project := exec.Command(binary, "init", "--repo", "example.com/x")
				project.Dir = dir
				if out, err := project.CombinedOutput(); err != nil {
					t.Fatalf("init: %v\n%s", err, out)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("configMapGenerator:\n- name: c\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), binary, args...)
			var stderr bytes.Buffer
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, full, &stderr
			if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("%v, want exit code 1", err)
			}
			if said := stderr.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "no space left on device") {
				t.Errorf("standard error %q, want one line that says why", said)
			}
		})
	}
}

func TestDataDirectoryInUseIsRefused(t *testing.T) {
	dataDir := filepath.Join(t.TempDir(), "data")
	p := start(t, "--data-dir", dataDir)
	stderr := fail(t, t.TempDir(), "cluster", "--data-dir", dataDir)
	if want := fmt.Sprintf("in use by another operon cluster (process %d)", p.cmd.Process.Pid); !strings.Contains(stderr, want) {
		t.Errorf("standard error %q does not say %q", stderr, want)
	}
	if _, err := p.client(t).Discovery().ServerVersion(); err != nil {
		t.Errorf("the running cluster was disturbed: %v", err)
	}
}

func TestDamagedStoreIsNamed(t *testing.T) {
	dataDir := filepath.Join(t.TempDir(), "data")
	start(t, "--data-dir", dataDir).interrupt(t)
	logs, err := filepath.Glob(filepath.Join(dataDir, "etcd/member/wal/*.wal"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no write-ahead log: %v", err)
	}
	database := filepath.Join(dataDir, "etcd/member/snap/db")

	for _, tt := range []struct {
		name   string
		path   string
		damage func([]byte) []byte
	}{
		{"database is garbage", database, func(b []byte) []byte { return bytes.Repeat([]byte("garbage "), len(b)/8) }},
		{"database is cut to a few pages", database, func(b []byte) []byte { return b[:4096*6] }},
		{"database is cut to its first page", database, func(b []byte) []byte { return b[:4096] }},
		{"database is empty of pages", database, func(b []byte) []byte {
			clear(b[4096*2:])
			return b
		}},
		{"log is garbage", logs[0], func(b []byte) []byte { return bytes.Repeat([]byte("garbage "), len(b)/8) }},
		{"log has a hole", logs[0], func(b []byte) []byte {
			copy(b[200:], bytes.Repeat([]byte{0xff}, 400))
			return b
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole, err := os.ReadFile(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { write(t, tt.path, string(whole)) })
			write(t, tt.path, string(tt.damage(bytes.Clone(whole))))

			stderr := fail(t, t.TempDir(), "cluster", "--data-dir", dataDir)
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			last := lines[len(lines)-1]
			if !strings.HasPrefix(last, "operon: store in ") || !strings.Contains(last, "is damaged") {
				t.Errorf("standard error does not end by naming the damage:\n%s", stderr)
			}
			for _, line := range lines[:len(lines)-1] {
				if !strings.HasPrefix(line, "operon cluster: ") {
					t.Errorf("standard error: %s", line)
				}
			}
		})
	}
	start(t, "--data-dir", dataDir)
}

// fail runs the binary, expects it to fail and returns what it wrote to standard error.
func fail(t *testing.T, tmp string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err == nil {
		t.Errorf("%v succeeded", args)
	}
	if cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v: %v, want exit code 1", args, err)
	}
	if stdout.Len() > 0 {
		t.Errorf("standard output: %s", &stdout)
	}
	return stderr.String()
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
