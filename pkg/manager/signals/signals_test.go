//go:build unix

package signals

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

const envChild = "OPERON_SIGNALS_CHILD"

// The handler belongs to a whole process, so each test has one of its own.
func TestMain(m *testing.M) {
	switch os.Getenv(envChild) {
	case "":
		os.Exit(m.Run())
	case "twice":
		SetupSignalHandler()
		SetupSignalHandler()
	default:
		ctx := SetupSignalHandler()
		fmt.Println("waiting")
		<-ctx.Done()
		fmt.Println("stopping")
		if os.Getenv(envChild) == "hangs" {
			time.Sleep(time.Minute)
		}
		os.Exit(7)
	}
}

func child(t *testing.T, role string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary)
	cmd.Env = append(os.Environ(), envChild+"="+role)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

func expectLine(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	if !lines.Scan() || lines.Text() != want {
		t.Fatalf("child says %q, want %q", lines.Text(), want)
	}
}

func TestTheFirstSignalEndsTheContext(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd, lines := child(t, "ends")
		expectLine(t, lines, "waiting")
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		expectLine(t, lines, "stopping")
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 7 {
			t.Errorf("%s: exit code %d, want main's own", signal, code)
		}
	}
}

func TestTheSecondSignalEndsTheProcess(t *testing.T) {
	cmd, lines := child(t, "hangs")
	expectLine(t, lines, "waiting")
	for _, want := range []string{"stopping", ""} {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if want != "" {
			expectLine(t, lines, want)
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

func TestAProcessHasOneHandler(t *testing.T) {
	cmd, _ := child(t, "twice")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Errorf("exit code %d, want that of a panic", code)
	}
}
