package nodes

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"
)

func TestRunRefusesMoreNodesThanThereAreAddresses(t *testing.T) {
	for _, n := range []int{-1, MaxCount + 1} {
		if err := Run(t.Context(), &rest.Config{}, Options{Count: n}); err == nil {
			t.Errorf("%d nodes: no error", n)
		}
	}
}

func TestRunWaitsForAServerAndEndsWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	// Nobody listens on port 1.
	if err := Run(ctx, &rest.Config{Host: "http://127.0.0.1:1"}, Options{Count: 2, OnReady: func() { t.Error("ready") }}); err != nil {
		t.Error(err)
	}
	if ctx.Err() == nil {
		t.Error("ended before its context")
	}
}
