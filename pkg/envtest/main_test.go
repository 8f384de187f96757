//go:build unix

package envtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// envFake makes the test binary play the operon command, in the role it names.
const envFake = "OPERON_ENVTEST_FAKE"

// envFakeLock names a file that the role "locks" holds a lock on while it runs.
const envFakeLock = "OPERON_ENVTEST_LOCK"

func TestMain(m *testing.M) {
	if role := os.Getenv(envFake); role != "" {
		os.Exit(playCommand(role))
	}
	goleak.VerifyTestMain(m)
}

const fakeKubeconfig = `apiVersion: v1
kind: Config
current-context: fake
contexts:
- name: fake
  context: {cluster: fake, user: fake}
clusters:
- name: fake
  cluster: {server: "https://127.0.0.1:1"}
users:
- name: fake
  user: {token: secret}
`

// playCommand behaves as the operon command does, or as it may misbehave.
func playCommand(role string) int {
	switch role {
	case "fails":
		fmt.Fprintln(os.Stderr, "operon: port 6443 is in use")
		return 3
	case "starts-an-environment":
		return startAndWait()
	case "never-ready":
		fmt.Fprintln(os.Stderr, "starting etcd")
		_, _ = io.Copy(io.Discard, os.Stdin)
		time.Sleep(time.Minute)
		return 0
	}
	i := slices.Index(os.Args, "--kubeconfig")
	if i < 0 || os.Args[1] != "cluster" || !slices.Contains(os.Args, "--stop-on-stdin-eof") {
		fmt.Fprintln(os.Stderr, "operon: unexpected arguments", os.Args)
		return 2
	}
	if n := slices.Index(os.Args, "--nodes"); n < 0 || os.Args[n+1] != os.Getenv("OPERON_ENVTEST_NODES") {
		fmt.Fprintln(os.Stderr, "operon: unexpected nodes", os.Args)
		return 2
	}
	if err := os.WriteFile(os.Args[i+1], []byte(fakeKubeconfig), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch role {
	case "locks":
		f, err := os.Create(os.Getenv(envFakeLock))
		if err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("ready: export KUBECONFIG=" + os.Args[i+1])
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	fmt.Println("ready: export KUBECONFIG=" + os.Args[i+1])
	switch role {
	case "dies":
		fmt.Fprintln(os.Stderr, "panic: no space left")
		return 2
	case "stubborn":
		time.Sleep(time.Minute)
		return 0
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if role == "stops-badly" {
		fmt.Fprintln(os.Stderr, "operon: etcd did not stop")
		return 1
	}
	return 0
}

// startAndWait is a test that starts a control plane and then hangs.
func startAndWait() int {
	binary, err := os.Executable()
	if err == nil {
		err = errors.Join(os.Setenv(envBinary, binary), os.Setenv(envFake, "locks"), os.Setenv("OPERON_ENVTEST_NODES", "0"))
	}
	if err == nil {
		_, err = (&Environment{}).Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("started")
	time.Sleep(time.Minute)
	return 0
}
