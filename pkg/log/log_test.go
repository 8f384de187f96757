package log

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
)

// lines collects what a logger writes.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, strings.TrimSpace(prefix+" "+args))
	}, funcr.Options{Verbosity: 1})
}

// fresh is a logger that leads to a target of its own, as Log does to the process's.
func fresh() (logr.Logger, *target) {
	t := newTarget()
	t.hintTo = &bytes.Buffer{}
	return logr.New(&delegate{target: t}), t
}

func TestLoggersDerivedBeforeAndAfterTheChoiceFollowIt(t *testing.T) {
	base, target := fresh()
	early := base.WithName("early").WithValues("n", 1).WithName("deep")
	early.Info("lost")
	early.Error(errors.New("lost"), "lost")
	if early.Enabled() {
		t.Error("enabled with nothing behind")
	}

	var first lines
	target.set(first.logger().GetSink())
	early.Info("one", "k", "v")
	early.V(1).Info("two")
	early.V(2).Info("too detailed")
	late := base.WithName("late")
	late.Error(errors.New("bad"), "three")
	want := []string{
		`early/deep "level"=0 "msg"="one" "n"=1 "k"="v"`,
		`early/deep "level"=1 "msg"="two" "n"=1`,
		`late "msg"="three" "error"="bad"`,
	}
	if diff := cmp.Diff(want, first.all); diff != "" {
		t.Error(diff)
	}

	var second lines
	target.set(second.logger().GetSink())
	early.Info("four")
	late.Info("five")
	want = []string{`early/deep "level"=0 "msg"="four" "n"=1`, `late "level"=0 "msg"="five"`}
	if diff := cmp.Diff(want, second.all); diff != "" {
		t.Error(diff)
	}
}

func TestTheCallersLineIsLogged(t *testing.T) {
	base, target := fresh()
	var got []string
	target.set(funcr.New(func(_, args string) { got = append(got, args) }, funcr.Options{LogCaller: funcr.All}).GetSink())
	base.Info("direct")
	base.WithName("x").WithValues("k", "v").Info("derived")
	inner := func() { base.WithCallDepth(1).Info("one up") }
	inner()
	for _, line := range got {
		if !strings.Contains(line, `"file"="log_test.go"`) {
			t.Errorf("caller in %s", line)
		}
	}
}

func TestValuesAreThoseOfTheMomentTheyWereAdded(t *testing.T) {
	base, target := fresh()
	var got lines
	target.set(got.logger().GetSink())
	value := map[string]int{"n": 1}
	derived := base.WithValues("m", value)
	value["n"] = 2
	derived.Info("x")
	if want := `"level"=0 "msg"="x" "m"={"n"=1}`; len(got.all) != 1 || got.all[0] != want {
		t.Errorf("logged %q, want %q", got.all, want)
	}
}

func TestLoggingAndChoosingAtOnceIsSafe(t *testing.T) {
	base, target := fresh()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 200 {
				base.WithName("n").WithValues("i", i).Info("x")
			}
		})
		all.Go(func() {
			var l lines
			target.set(l.logger().GetSink())
		})
	}
	all.Wait()
}

func TestAProgramThatNeverChoosesALoggerIsToldOnce(t *testing.T) {
	base, target := fresh()
	hint := target.hintTo.(*bytes.Buffer)
	base.Info("early")
	if hint.Len() > 0 {
		t.Errorf("told at once: %s", hint)
	}
	target.since = time.Now().Add(-hintAfter)
	base.Info("late")
	base.Error(errors.New("later"), "later")
	if n := strings.Count(hint.String(), "log.SetLogger(...) was never called"); n != 1 {
		t.Errorf("told %d times: %s", n, hint)
	}
}

func TestSetLoggerIgnoresItselfAndTakesNothingForSilence(t *testing.T) {
	var got lines
	SetLogger(got.logger())
	SetLogger(Log.WithName("again"))
	Log.Info("once")
	if len(got.all) != 1 {
		t.Errorf("logged %q", got.all)
	}
	SetLogger(logr.Logger{})
	Log.Info("nowhere")
	if len(got.all) != 1 {
		t.Errorf("logged %q", got.all)
	}
}

func TestSlogHandlersCanStandBehind(t *testing.T) {
	var out bytes.Buffer
	base, target := fresh()
	target.set(logr.FromSlogHandler(slog.NewTextHandler(&out, nil)).GetSink())
	base.WithName("x").Info("hello", "k", "v")
	if !strings.Contains(out.String(), "msg=hello") || !strings.Contains(out.String(), "k=v") {
		t.Errorf("logged %q", out.String())
	}
}

func TestContextsCarryLoggers(t *testing.T) {
	var got lines
	ctx := IntoContext(context.Background(), got.logger().WithName("mine"))
	FromContext(ctx, "k", "v").Info("x")
	if want := []string{`mine "level"=0 "msg"="x" "k"="v"`}; !cmp.Equal(want, got.all) {
		t.Errorf("logged %q", got.all)
	}
	if FromContext(context.Background()) != Log {
		t.Error("a context without a logger does not give Log")
	}
	var none context.Context
	if FromContext(none) != Log {
		t.Error("no context does not give Log")
	}
}

func TestAPIWarningsAreLogged(t *testing.T) {
	for _, tc := range []struct {
		deduplicate bool
		want        int
	}{{false, 3}, {true, 2}} {
		t.Run(fmt.Sprint(tc.deduplicate), func(t *testing.T) {
			var got lines
			ctx := IntoContext(context.Background(), got.logger())
			w := NewKubeAPIWarningLogger(KubeAPIWarningLoggerOptions{Deduplicate: tc.deduplicate})
			for _, message := range []string{"old API", "old API", "other", ""} {
				w.HandleWarningHeaderWithContext(ctx, 299, "agent", message)
			}
			w.HandleWarningHeaderWithContext(ctx, 199, "agent", "not for us")
			if len(got.all) != tc.want {
				t.Errorf("logged %q, want %d lines", got.all, tc.want)
			}
			if strings.Contains(got.all[0], "KubeAPIWarningLogger") {
				t.Errorf("%q does not have the name of the logger that it was to go to", got.all[0])
			}
		})
	}
}

func BenchmarkWithValuesNotEnabled(b *testing.B) {
	base, target := fresh()
	target.set(NullLogSink{})
	b.ReportAllocs()
	for b.Loop() {
		base.WithValues("k", "v").Info("x")
	}
}
