package signals

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

var handled atomic.Bool

// SetupSignalHandler returns a context that ends with the first SIGTERM or
// SIGINT. A second one ends the process with exit code 1. It may be called
// once in a process, and panics after that.
func SetupSignalHandler() context.Context {
	if handled.Swap(true) {
		panic("signals.SetupSignalHandler was called twice: pass its context on instead")
	}
	ctx, cancel := context.WithCancel(context.Background())
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-received
		cancel()
		<-received
		os.Exit(1)
	}()
	return ctx
}
