package podlife

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestCommandLinesThatArePlainAreTakenAtTheirWord(t *testing.T) {
	forever := &course{forever: true}
	lasts := func(d time.Duration) *course { return &course{lasts: d} }
	exits := func(code int32) *course { return &course{exitCode: code} }
	script := func(text string) []string { return []string{"/bin/sh", "-c", text} }
	for name, c := range map[string]struct {
		image string
		argv  []string
		want  *course
	}{
		"true":                                 {argv: []string{"/bin/true"}, want: exits(0)},
		"false":                                {argv: []string{"false"}, want: exits(1)},
		"sleep":                                {argv: []string{"sleep", "90"}, want: lasts(90 * time.Second)},
		"sleep with a unit":                    {argv: []string{"sleep", "1.5h"}, want: lasts(90 * time.Minute)},
		"sleep for ever":                       {argv: []string{"sleep", "infinity"}, want: forever},
		"sleep beyond all bounds":              {argv: []string{"sleep", "999999999999999999999d"}, want: lasts(maxLasting)},
		"sleep of several times":               {argv: []string{"sleep", "1", "2"}},
		"sleep without a time":                 {argv: []string{"sleep"}},
		"sleep of no number":                   {argv: []string{"sleep", "0x10"}},
		"sleep of a variable":                  {argv: []string{"sleep", "$(TIME)"}},
		"tail of nothing":                      {argv: []string{"tail", "-f", "/dev/null"}, want: forever},
		"another program":                      {argv: []string{"/manager", "--leader-elect"}},
		"a shell without a script":             {argv: []string{"sh"}},
		"the pause image":                      {image: "registry.k8s.io/pause:3.10@sha256:00", want: forever},
		"another image":                        {image: "registry.k8s.io/pauser:3.10"},
		"the pause image with another program": {image: "registry.k8s.io/pause", argv: []string{"x"}},
		"exit":                                 {argv: script("exit 3"), want: exits(3)},
		"exit of a success":                    {argv: script("exit"), want: exits(0)},
		"exit of no code":                      {argv: script("exit 256")},
		"exit of a variable":                   {argv: script("exit $CODE")},
		"sleep, then fail":                     {argv: script("echo \"hello, world\"; sleep 2 && sleep 1m\nexit 42"), want: &course{lasts: 62 * time.Second, exitCode: 42}},
		"sleep, then be replaced":              {argv: script("sleep 2; exec sleep infinity"), want: &course{forever: true, lasts: 2 * time.Second}},
		"fail at the end":                      {argv: script("echo no; false"), want: exits(1)},
		"fail before the end":                  {argv: script("false; true")},
		"what is not reached":                  {argv: script("exit 1; curl example.com"), want: exits(1)},
		"a loop without an end":                {argv: script("while true; do date; sleep 5; done"), want: forever},
		"a loop after a trap":                  {argv: script("trap 'exit 0' TERM INT\nsleep 1; while :; do sleep 1; done"), want: &course{forever: true, lasts: time.Second}},
		"a trap of the end":                    {argv: script("trap 'exit 1' EXIT TERM; sleep 1")},
		"a loop in a quotation":                {argv: script("echo 'while true; do x; done'")},
		"a loop that is not reached":           {argv: script("exit 2; while true; do x; done"), want: exits(2)},
		"a loop with a way out":                {argv: script("while true; do test -e /x && break; done")},
		"a loop and more":                      {argv: script("while true; do date; done; while true; do x; done")},
		"a part that is not plain":             {argv: script("migrate; exit 1")},
		"an alternative":                       {argv: script("true || exit 1")},
		"the background":                       {argv: script("sleep 5 & exit 1")},
		"a command in a command":               {argv: script("echo $(exit 3)")},
		"a pipe":                               {argv: script("echo hello | false")},
		"a condition":                          {argv: script("if true; then exit 1; fi")},
		"a comment":                            {argv: script("# to be done; exit 1")},
		"a quotation":                          {argv: script("echo 'to be done; exit 1; '")},
		"a quotation in a quotation":           {argv: script("echo '\"' \"'x'; exit 0; \"")},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := courseOf(&corev1.Container{Image: c.image, Args: c.argv})
			if c.want == nil {
				if ok {
					t.Fatalf("read as %+v", got)
				}
				return
			}
			if d := cmp.Diff(*c.want, got, cmp.AllowUnexported(course{})); !ok || d != "" {
				t.Errorf("ok %v (-want +got):\n%s", ok, d)
			}
		})
	}
}

func FuzzCommandLine(f *testing.F) {
	for _, text := range []string{"echo a; sleep 1.5h && exit 3", "while true; do x; done", "sleep 999999999999d; sleep 9d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := courseOf(&corev1.Container{Command: []string{"sh", "-c", text}})
		if ok && (got.lasts < 0 || got.exitCode < 0 || got.exitCode > 255) {
			t.Errorf("%q: %+v", text, got)
		}
	})
}
