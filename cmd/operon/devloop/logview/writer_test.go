package logview_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/cmd/operon/devloop/logview"
)

func show(t *testing.T, colour bool, lines ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := logview.NewWriter(&out, colour)
	if _, err := w.Write([]byte(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestEntriesBecomeShortLines(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	clock := at.Local().Format("15:04:05.000")
	stamp := at.Format(time.RFC3339Nano)
	for name, c := range map[string]struct{ line, want string }{
		"JSON": {
			`{"level":"info","ts":"` + stamp + `","logger":"setup","msg":"starting manager","port":8080,"tls":true}`,
			clock + " INFO  setup starting manager port=8080 tls=true\n",
		},
		"seconds since 1970": {
			`{"level":"debug","ts":1767323045.678,"msg":"hello"}`,
			clock + " DEBUG hello\n",
		},
		"console": {
			stamp + "\tINFO\tsetup\tstarting manager\t" + `{"port": 8080}`,
			clock + " INFO  setup starting manager port=8080\n",
		},
		"console without fields": {
			stamp + "\tINFO\tstarting manager",
			clock + " INFO  starting manager\n",
		},
		"console message that ends like fields": {
			stamp + "\tINFO\tsetup\t{not json",
			clock + " INFO  setup {not json\n",
		},
		"a reconcile": {
			`{"level":"info","ts":"` + stamp + `","msg":"scaled","controller":"memcached","controllerGroup":"cache.example.com","controllerKind":"Memcached",` +
				`"Memcached":{"name":"sample","namespace":"default"},"namespace":"default","name":"sample","reconcileID":"0f5ac1b2-6d1e-4a52-9c8f-000000000000","size":3}`,
			clock + " INFO  Memcached default/sample scaled size=3 #0f5ac1b2\n",
		},
		"a cluster-scoped object": {
			`{"level":"info","ts":"` + stamp + `","msg":"seen","controllerKind":"Node","Node":{"name":"a"},"namespace":"","name":"a"}`,
			clock + " INFO  Node a seen\n",
		},
		"a controller's own line": {
			`{"level":"info","ts":"` + stamp + `","msg":"Starting workers","controller":"memcached","controllerGroup":"g","controllerKind":"Memcached","worker count":1}`,
			clock + " INFO  Memcached Starting workers worker count=1\n",
		},
		"names of things that are not reconciled stay": {
			`{"level":"info","ts":"` + stamp + `","msg":"x","namespace":"a","name":"b","other":{"name":"c","namespace":"d"}}`,
			clock + " INFO  x namespace=a name=b other=d/c\n",
		},
		"values": {
			`{"level":"info","ts":"` + stamp + `","msg":"x","a":"two words","b":"","c":[1,"2"],"d":{"e":1},"f":null}`,
			clock + ` INFO  x a="two words" b="" c=[1,"2"] d={"e":1} f=null` + "\n",
		},
		"an error with its stack": {
			`{"level":"error","ts":"` + stamp + `","msg":"Reconciler error","error":"no such thing","stacktrace":"main.f\n\tmain.go:1"}`,
			clock + " ERROR Reconciler error error=\"no such thing\"\n    main.f\n    \tmain.go:1\n",
		},
		"whole seconds": {
			at.Format(time.RFC3339) + "\tINFO\tx",
			at.Local().Format("15:04:05") + " INFO  x\n",
		},
		"no time": {
			`{"level":"info","msg":"x"}`,
			"--:--:-- INFO  x\n",
		},
		"not a log line":      {"panic: oh\n\ngoroutine 1 [running]:", "panic: oh\n\ngoroutine 1 [running]:\n"},
		"JSON of another":     {`{"kind":"Pod"}`, `{"kind":"Pod"}` + "\n"},
		"two objects":         {`{"msg":"x"}{"msg":"y"}`, `{"msg":"x"}{"msg":"y"}` + "\n"},
		"cut off":             {`{"msg":"x"`, `{"msg":"x"` + "\n"},
		"tabs without a time": {"a\tb\tc", "a\tb\tc\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, show(t, false, c.line)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestColoursOnlyWhereAsked(t *testing.T) {
	line := `{"level":"error","ts":"2026-01-02T03:04:05Z","msg":"oh","error":"no"}`
	if got := show(t, false, line); strings.Contains(got, "\x1b") {
		t.Errorf("colours in %q", got)
	}
	if got := show(t, true, line); !strings.Contains(got, "\x1b[31mERROR\x1b[0m") {
		t.Errorf("no red level in %q", got)
	}
}

// However the log is cut into writes, the lines are the same, and each is written as soon as it has ended.
func TestLinesInPieces(t *testing.T) {
	text := `{"level":"info","msg":"one"}` + "\nplain\n" + `{"level":"info","msg":"two"}` + "\n"
	want := show(t, false, text)
	for cut := range len(text) {
		var out bytes.Buffer
		w := logview.NewWriter(&out, false)
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if out.String() != want {
			t.Errorf("cut at %d: %q, want %q", cut, out.String(), want)
		}
	}
}

// Whatever is printed, nothing panics, and what is not an entry passes unchanged.
func FuzzWriter(f *testing.F) {
	f.Add(`{"level":"info","ts":1,"msg":"x","a":{"name":"b"}}`)
	f.Add("2026-01-02T03:04:05Z\tINFO\tx\t{}")
	f.Add("plain")
	f.Fuzz(func(t *testing.T, line string) {
		got := show(t, false, line)
		if !strings.Contains(line, "{") && !strings.Contains(line, "\t") && line != "" && strings.TrimSuffix(got, "\n") != strings.TrimSuffix(line, "\n") {
			t.Errorf("%q became %q", line, got)
		}
	})
}
