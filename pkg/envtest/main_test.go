//go:build unix

package envtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const (
	// envFake makes the test binary play the operon command, in the role it names.
	envFake = "OPERON_ENVTEST_FAKE"
	// envFakeLock names a file that the role "locks" holds a lock on while it runs.
	envFakeLock = "OPERON_ENVTEST_LOCK"
	// envFakeArgs holds the arguments that the command is to be called with.
	envFakeArgs = "OPERON_ENVTEST_ARGS"
	// envFakePID names a file for the process id.
	envFakePID = "OPERON_ENVTEST_PID"
)

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
		return startAndWait(true)
	case "starts-a-real-environment":
		return startAndWait(false)
	case "never-ready":
		fmt.Fprintln(os.Stderr, "starting etcd")
		_, _ = io.Copy(io.Discard, os.Stdin)
		time.Sleep(time.Minute)
		return 0
	}
	if want := os.Getenv(envFakeArgs); strings.Join(os.Args[1:], " ") != want {
		fmt.Fprintln(os.Stderr, "operon: unexpected arguments", os.Args, "instead of", want)
		return 2
	}
	if role == "locks" {
		f, err := os.Create(os.Getenv(envFakeLock))
		if err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "operon-cluster-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(fakeKubeconfig), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if file := os.Getenv(envFakePID); file != "" {
		if err := os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	fmt.Printf("ready in 0.10s; kubeconfig %s; use it with: export KUBECONFIG=%s; kubectl get nodes\n", kubeconfig, kubeconfig)
	for orders := bufio.NewScanner(os.Stdin); orders.Scan(); {
		order, _, _ := strings.Cut(orders.Text(), " ")
		switch {
		case order == "sign":
			fmt.Println(`sign {"cert":"a certificate","key":"a key"}`)
		case order == "mark" && role == "dies":
			fmt.Println("mark in 0.001s")
			fmt.Fprintln(os.Stderr, "panic: no space left")
			return 2
		case slices.Contains([]string{"mark", "reset"}, order):
			fmt.Println(order + " in 0.001s")
		default:
			fmt.Println("error: not an order: " + order)
		}
	}
	switch role {
	case "stubborn":
		time.Sleep(time.Minute)
	case "stops-badly":
		fmt.Fprintln(os.Stderr, "operon: etcd did not stop")
		return 1
	}
	return 0
}

// startAndWait is a test that starts a control plane and then hangs.
func startAndWait(fake bool) int {
	binary, err := os.Executable()
	if err == nil && fake {
		err = errors.Join(os.Setenv(envBinary, binary), os.Setenv(envFake, "locks"), os.Setenv(envFakeArgs, plainArgs))
	}
	env := &Environment{}
	if err == nil {
		_, err = env.Start()
	}
	if err == nil && !fake {
		var user *AuthenticatedUser
		if user, err = env.AddUser(User{Name: "jane"}, nil); err == nil {
			// A file for as long as the control plane lives.
			_, err = user.Kubectl()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("started")
	time.Sleep(time.Minute)
	return 0
}
