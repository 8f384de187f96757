package zap

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// line decodes a message that was logged as JSON.
func line(t *testing.T, out *bytes.Buffer) map[string]any {
	t.Helper()
	got := map[string]any{}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	return got
}

func TestProductionLogsJSONFromInfoUpAndErrorsWithTheirStack(t *testing.T) {
	var out bytes.Buffer
	log := New(WriteTo(&out)).WithName("main").WithValues("a", 1)
	log.V(1).Info("hidden")
	if out.Len() > 0 {
		t.Errorf("debug is logged: %s", out.String())
	}
	log.Info("hello", "b", 2)
	got := line(t, &out)
	if _, err := json.Marshal(got["ts"]); err != nil || !strings.Contains(got["ts"].(string), "T") {
		t.Errorf("ts = %v, want RFC 3339", got["ts"])
	}
	delete(got, "ts")
	if diff := cmp.Diff(map[string]any{"level": "info", "logger": "main", "msg": "hello", "a": 1.0, "b": 2.0}, got); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	log.Error(errors.New("bad"), "failed")
	got = line(t, &out)
	if got["error"] != "bad" || got["level"] != "error" || !strings.Contains(got["stacktrace"].(string), "TestProductionLogsJSON") {
		t.Errorf("logged %v", got)
	}
}

func TestProductionThinsOutFloodsUnlessDetailIsAskedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		opts []Opts
		all  bool
	}{
		"by default":     {nil, false},
		"in development": {[]Opts{UseDevMode(true)}, true},
		"at verbosity 2": {[]Opts{Level(zapcore.Level(-2))}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			log := New(append(tc.opts, WriteTo(&out))...)
			for range 300 {
				log.Info("flood")
			}
			if n := strings.Count(out.String(), "flood"); (n == 300) != tc.all {
				t.Errorf("%d of 300 were logged", n)
			}
		})
	}
}

func TestDevelopmentLogsForPeople(t *testing.T) {
	var out bytes.Buffer
	log := New(UseDevMode(true), WriteTo(&out))
	log.V(1).Info("detail", "k", "v")
	if got := out.String(); !strings.Contains(got, "DEBUG\tdetail\t{\"k\": \"v\"}") {
		t.Errorf("logged %q", got)
	}
}

func TestOptionsReachTheEncoder(t *testing.T) {
	var out bytes.Buffer
	rename := func(c *zapcore.EncoderConfig) { c.MessageKey = "text" }
	New(WriteTo(&out), func(o *Options) { o.EncoderConfigOptions = []EncoderConfigOption{rename} }).Info("one")
	if got := line(t, &out); got["text"] != "one" {
		t.Errorf("logged %v", got)
	}
	out.Reset()
	New(WriteTo(&out), JSONEncoder(rename), RawZapOpts(zap.Fields(zap.Int("n", 1)))).Info("two")
	if got := line(t, &out); got["text"] != "two" || got["n"] != 1.0 {
		t.Errorf("logged %v", got)
	}
	out.Reset()
	New(WriteTo(&out), ConsoleEncoder(), StacktraceLevel(zapcore.InfoLevel)).Info("three")
	if got := out.String(); !strings.Contains(got, "INFO\tthree") || !strings.Contains(got, "TestOptionsReachTheEncoder") {
		t.Errorf("logged %q", got)
	}
}

func TestObjectsAreLoggedAsWhatIdentifiesThem(t *testing.T) {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: map[string]string{"secret": "yes"}},
	}
	untyped := &unstructured.Unstructured{}
	untyped.SetAPIVersion("example.com/v1")
	untyped.SetKind("Frog")
	untyped.SetName("kermit")
	for name, tc := range map[string]struct {
		value any
		want  any
	}{
		"typed":           {pod, map[string]any{"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "web"}},
		"unstructured":    {untyped, map[string]any{"apiVersion": "example.com/v1", "kind": "Frog", "name": "kermit"}},
		"without a kind":  {&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, map[string]any{"name": "n1"}},
		"nil":             {(*corev1.Pod)(nil), map[string]any{"error": "got nil for runtime.Object of type *v1.Pod"}},
		"a list":          {&corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}, map[string]any{"apiVersion": "v1", "kind": "PodList"}},
		"namespaced name": {types.NamespacedName{Namespace: "default", Name: "web"}, map[string]any{"namespace": "default", "name": "web"}},
		"something else":  {[]int{1}, []any{1.0}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			New(WriteTo(&out)).Info("x", "value", tc.value)
			if diff := cmp.Diff(tc.want, line(t, &out)["value"]); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("whole in development", func(t *testing.T) {
		var out bytes.Buffer
		New(UseDevMode(true), WriteTo(&out)).Info("x", "value", pod)
		if !strings.Contains(out.String(), "secret") {
			t.Errorf("logged %q", out.String())
		}
	})
}

func TestFlags(t *testing.T) {
	logged := func(t *testing.T, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		o := Options{DestWriter: &out}
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		o.BindFlags(fs)
		if err := fs.Parse(args); err != nil {
			t.Fatal(err)
		}
		log := New(UseFlagOptions(&o))
		log.Info("level 0")
		log.V(1).Info("level 1")
		log.V(3).Info("level 3")
		log.Error(errors.New("bad"), "failed")
		return out.String()
	}
	for _, tc := range []struct {
		args     []string
		has, not []string
	}{
		{args: nil, has: []string{`"msg":"level 0"`, `"stacktrace"`}, not: []string{"level 1"}},
		{args: []string{"--zap-devel"}, has: []string{"INFO\tlevel 0", "level 1"}, not: []string{"level 3"}},
		{args: []string{"--zap-devel", "--zap-encoder=json"}, has: []string{`"msg":"level 1"`}},
		{args: []string{"--zap-encoder=console"}, has: []string{"INFO\tlevel 0"}},
		{args: []string{"--zap-log-level=debug"}, has: []string{"level 1"}, not: []string{"level 3"}},
		{args: []string{"--zap-log-level=3"}, has: []string{"level 3"}},
		{args: []string{"--zap-log-level=ERROR"}, has: []string{"failed"}, not: []string{"level 0"}},
		{args: []string{"--zap-stacktrace-level=panic"}, has: []string{"failed"}, not: []string{"stacktrace"}},
		{args: []string{"--zap-time-encoding=epoch"}, has: []string{`"ts":1`}},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			got := logged(t, tc.args...)
			for _, want := range tc.has {
				if !strings.Contains(got, want) {
					t.Errorf("does not contain %q: %s", want, got)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(got, not) {
					t.Errorf("contains %q: %s", not, got)
				}
			}
		})
	}
	for _, bad := range []string{"--zap-encoder=xml", "--zap-log-level=0", "--zap-log-level=loud", "--zap-log-level=128", "--zap-stacktrace-level=debug", "--zap-time-encoding=sundial"} {
		var o Options
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		o.BindFlags(fs)
		if err := fs.Parse([]string{bad}); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestAnObjectAmongALoggersOwnValuesIsItsNameToo(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}, Data: map[string][]byte{"password": []byte("hunter2")}}
	for _, opts := range [][]Opts{nil, {ConsoleEncoder()}, {Level(zapcore.Level(-5))}} {
		var out bytes.Buffer
		l := New(append(opts, WriteTo(&out))...).WithName("test").WithValues("before", 1, "secret", secret, "nothing", (*corev1.Secret)(nil), "after", 2)
		l.Info("told")
		l.Error(errors.New("bad"), "told")
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			if !strings.Contains(line, "told") {
				continue // of a stack trace
			}
			if !strings.Contains(strings.ReplaceAll(line, " ", ""), `"secret":{"namespace":"ns","name":"a"}`) || strings.Contains(line, "104 117 110") || strings.Contains(line, "aHVudGVyMg") {
				t.Errorf("logged %s", line)
			}
		}
		if out.Len() == 0 {
			t.Error("nothing logged")
		}
	}
	var out bytes.Buffer
	New(UseDevMode(true), WriteTo(&out)).WithValues("secret", secret).Info("told")
	if !strings.Contains(out.String(), "104 117 110") {
		t.Errorf("in development objects are logged whole, and this is not: %s", out.String())
	}
}
