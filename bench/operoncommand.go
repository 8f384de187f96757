package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func init() { children["program"] = programInChild }

// operonCommand is the path of the operon command.
func operonCommand() (string, error) {
	path := os.Getenv("OPERON")
	if path == "" {
		return "", errors.New("OPERON, the path of the operon command, is not set: make build, then export OPERON=<checkout>/bin/operon")
	}
	return filepath.Abs(path)
}

// programInChild runs the program that its second argument and those after it say, in the directory that the first one
// says, and prints what it took: wall time in nanoseconds and the most memory it had resident, in bytes. A process that
// is started never counts less memory than the one that starts it, and this one is small.
func programInChild(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return errors.New("want a directory and a command line")
	}
	command := exec.CommandContext(ctx, args[1], args[2:]...)
	command.Dir = args[0]
	began := time.Now()
	out, err := command.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args[1:], " "), err, out)
	}
	usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("the system does not say how much memory a process has used")
	}
	_, err = fmt.Println(took.Nanoseconds(), usage.Maxrss*1024)
	return err
}

// runProgram runs a program as programInChild says.
func runProgram(ctx context.Context, dir string, commandLine ...string) (wall, memory float64, err error) {
	out, err := inChild(ctx, append([]string{"program", dir}, commandLine...)...)
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(out, &wall, &memory)
	return wall, memory, err
}
