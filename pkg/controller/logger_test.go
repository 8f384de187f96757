package controller

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

func TestLoggerOnDemandIsMadeOnceAndOnlyWhenItLogs(t *testing.T) {
	var lines []string
	own := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: 1, LogCaller: funcr.All})
	made := 0
	logger := onDemand(own, func() logr.Logger {
		made++
		return own.WithValues("key", "value")
	})
	if !logger.V(1).Enabled() || logger.V(2).Enabled() {
		t.Error("what is enabled differs from the logger it is made of")
	}
	logger.V(2).Info("silent")
	if made != 0 {
		t.Fatal("made before it was needed")
	}

	_, _, line, _ := runtime.Caller(0)
	logger.Info("info")
	logger.Error(nil, "error")
	logger.WithValues("more", 1).Info("with values")
	logger.WithName("name").V(1).Info("with name")
	func() { logger.WithCallDepth(1).Info("from a helper") }()
	if made != 1 {
		t.Errorf("made %d times, want once", made)
	}
	if len(lines) != 5 {
		t.Fatalf("lines %q", lines)
	}
	for i, got := range lines {
		if want := fmt.Sprintf(`{"file"="logger_test.go" "line"=%d}`, line+1+i); !strings.Contains(got, want) {
			t.Errorf("%s does not name the place that logs, %s", got, want)
		}
		if !strings.Contains(got, `"key"="value"`) {
			t.Errorf("%s lacks a value", got)
		}
	}
}
