package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// stuck is how long a stop takes only where something holds it up; BenchmarkStart tells how long it takes.
const stuck = 10 * time.Second

func TestInterruptEndsTheClusterSoonAndLeavesNothing(t *testing.T) {
	p := start(t)
	// A client with an open watch must not hold the server up.
	watch, err := p.client(t).CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	took := p.interrupt(t)
	if took > stuck {
		t.Errorf("stopping took %s", took)
	}
	if p.exitCode() != 0 {
		t.Errorf("exit code %d\n%s", p.exitCode(), p.stderr)
	}
	if len(p.stdout) != 1 {
		t.Errorf("standard output has %d lines, want one: %q", len(p.stdout), p.stdout)
	}
	onlyProgress(t, p)
	nothingIn(t, p.tmp)
}

func TestClosedTerminalEndsTheClusterAndLeavesNothing(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests outlive their terminal, and the cluster inherits that")
	}
	p := start(t)
	p.cmd.Process.Signal(syscall.SIGHUP)
	p.wait(t)
	if p.exitCode() != 0 {
		t.Errorf("exit code %d\n%s", p.exitCode(), p.stderr)
	}
	onlyProgress(t, p)
	nothingIn(t, p.tmp)
}

func TestInterruptDuringTheStartLeavesNothing(t *testing.T) {
	for _, after := range []time.Duration{20, 150, 300, 450, 600} {
		t.Run((after * time.Millisecond).String(), func(t *testing.T) {
			dataDir := filepath.Join(t.TempDir(), "data")
			p := launch(t, "--data-dir", dataDir)
			select {
			case <-p.ready:
			case <-time.After(after * time.Millisecond):
			}
			p.cmd.Process.Signal(os.Interrupt)
			p.wait(t)
			select {
			case <-p.ready:
				t.Skip("was ready before")
			default:
			}
			// Before it has installed its handler, a process is ended by the signal itself.
			if p.exitCode() > 0 {
				t.Errorf("exit code %d\n%s", p.exitCode(), p.stderr)
			}
			onlyProgress(t, p)
			nothingIn(t, p.tmp)
			nothingIn(t, filepath.Dir(dataDir))
		})
	}
}

func TestInterruptWhileTheControllersStartIsObeyed(t *testing.T) {
	p := launch(t)
	// Controllers ask the API server what there is while they are built, and give up where there is no answer.
	eventually(t, time.Minute, "the start of the controllers", func(context.Context) (bool, error) {
		return strings.Contains(p.stderr.String(), "starting controllers"), nil
	})
	p.interrupt(t)
	if p.exitCode() != 0 {
		t.Errorf("exit code %d\n%s", p.exitCode(), p.stderr)
	}
	onlyProgress(t, p)
	nothingIn(t, p.tmp)
}

func TestClusterEndsWithItsStandardInput(t *testing.T) {
	p := start(t, "--stop-on-stdin-eof")
	p.stdin.Close()
	p.wait(t)
	if p.exitCode() != 0 {
		t.Errorf("exit code %d\n%s", p.exitCode(), p.stderr)
	}
	nothingIn(t, p.tmp)
}

func TestTemporaryDirectoryOfAKilledClusterGoesWithTheNextOne(t *testing.T) {
	killed := start(t)
	killed.cmd.Process.Kill()
	killed.wait(t)
	next := launch(t)
	next.cmd.Process.Kill()
	next.wait(t)
	again := exec.Command(binary, "cluster", "--nodes=0", "--stop-on-stdin-eof")
	again.Env = append(os.Environ(), "TMPDIR="+killed.tmp)
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	nothingIn(t, killed.tmp)
}

func TestAcknowledgedWritesSurviveKill(t *testing.T) {
	dataDir := filepath.Join(t.TempDir(), "data")
	p := start(t, "--data-dir", dataDir)
	client := p.client(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	acknowledged := map[string]string{}
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("w%d-%d", w, i)
				created, err := client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": name},
				}, metav1.CreateOptions{})
				if err != nil {
					return
				}
				mu.Lock()
				acknowledged[name] = string(created.UID)
				enough := len(acknowledged) == 300
				mu.Unlock()
				if enough {
					p.cmd.Process.Kill()
				}
			}
		})
	}
	p.wait(t)
	cancel()
	writers.Wait()

	again := start(t, "--data-dir", dataDir)
	// The kubeconfig of the first run has the same server, authority and user.
	again.kubeconfig = p.kubeconfig
	list, err := again.client(t).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, cm := range list.Items {
		found[cm.Name] = string(cm.UID)
	}
	for name, uid := range acknowledged {
		if found[name] != uid {
			t.Errorf("ConfigMap %s: uid %q after the restart, was acknowledged with %q", name, found[name], uid)
		}
	}
	if took := again.interrupt(t); took > stuck {
		t.Errorf("stopping took %s", took)
	}
}

func TestStateIsPrivateToItsOwner(t *testing.T) {
	dataDir := filepath.Join(t.TempDir(), "data")
	start(t, "--data-dir", dataDir)
	err := filepath.WalkDir(dataDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && info.Mode().Perm() != 0o700:
			t.Errorf("directory %s has mode %o", path, info.Mode().Perm())
		case info.Mode().IsRegular() && info.Mode().Perm() != 0o600:
			t.Errorf("file %s has mode %o", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestKubeconfigKeepsItsOtherContexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	other := `apiVersion: v1
kind: Config
current-context: prod
clusters: [{name: prod, cluster: {server: "https://prod.example.com"}}]
users: [{name: me, user: {token: secret}}]
contexts: [{name: prod, context: {cluster: prod, user: me}}]
`
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "--kubeconfig", path)
	during, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if during.CurrentContext != "operon" || during.Contexts["prod"] == nil || during.AuthInfos["me"].Token != "secret" {
		t.Errorf("while the cluster runs: current context %q, contexts %v", during.CurrentContext, during.Contexts)
	}
	p.interrupt(t)
	after, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if after.CurrentContext != "prod" || after.Contexts["prod"] == nil || after.Contexts["operon"] != nil || after.Clusters["operon"] != nil || after.AuthInfos["operon"] != nil {
		t.Errorf("after the cluster: current context %q, contexts %v", after.CurrentContext, after.Contexts)
	}
}

func TestNewKubeconfigGoesWithItsTemporaryCluster(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	p := start(t, "--kubeconfig", path)
	p.interrupt(t)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("kubeconfig is still there: %v", err)
	}
}

func TestRestartKeepsDeletions(t *testing.T) {
	dataDir := filepath.Join(t.TempDir(), "data")
	p := start(t, "--data-dir", dataDir)
	// A user may remove a bootstrap role binding; the next run must not quietly restore what it seeded.
	if err := p.client(t).RbacV1().ClusterRoleBindings().Delete(t.Context(), "system:basic-user", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p.interrupt(t)
	again := start(t, "--data-dir", dataDir)
	_, err := again.client(t).RbacV1().ClusterRoleBindings().Get(t.Context(), "system:basic-user", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("deleted binding after the restart: %v", err)
	}
}

// onlyProgress fails unless standard error is empty but for the lines that tell of the start.
func onlyProgress(t testing.TB, p *process) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(p.stderr.String()), "\n") {
		if line != "" && !strings.HasPrefix(line, "operon cluster: ") {
			t.Errorf("standard error: %s", line)
		}
	}
}

func nothingIn(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("left behind: %s", filepath.Join(dir, e.Name()))
	}
}
