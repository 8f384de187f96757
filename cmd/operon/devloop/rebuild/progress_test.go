package rebuild

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A listener calls heard with all that was written, at each write.
type listener struct {
	mu    sync.Mutex
	text  strings.Builder
	heard func(text string)
}

func (l *listener) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	l.heard(l.text.String())
	return len(p), nil
}

func (l *listener) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// slowGo makes "go" a program that compiles one package, of three, until the file enough is there, and then ends as exit says.
func slowGo(t *testing.T, exit string) (enough string) {
	t.Helper()
	dir := t.TempDir()
	enough = filepath.Join(dir, "enough")
	script := `#!/bin/sh
case $1 in
list) printf 'a true true\nb true true\nexample.com/p/cmd true false\n'; exit ;;
esac
while [ $# -gt 0 ]; do
	if [ "$1" = -o ]; then out=$2; fi
	shift
done
printf '%s\n' '{"ImportPath":"a","Action":"build-output","Output":"a\n"}'
while [ ! -e ` + enough + ` ]; do sleep 0.05; done
` + exit + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return enough
}

func TestABuildThatTakesItsTimeShowsHowFarItIs(t *testing.T) {
	for _, tc := range []struct{ name, exit, want string }{
		{"one that succeeds", `echo program >"$out"`, ""},
		{"one that fails", `echo "p.go:1:1: wrong"  >&2; exit 1`, "p.go:1:1: wrong\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			enough := slowGo(t, tc.exit)
			progress := &listener{heard: func(text string) {
				if strings.Contains(text, "the program: compiling package 1") || strings.Contains(text, "the program:  33%  1 of 3") {
					if err := os.WriteFile(enough, nil, 0o666); err != nil {
						t.Error(err)
					}
				}
			}}
			b := &Builder{Dir: t.TempDir(), Package: "./cmd", Output: filepath.Join(t.TempDir(), "p"), Progress: progress, Name: "the program"}
			began := time.Now()
			err := b.Build(t.Context())
			if tc.want == "" && err != nil {
				t.Fatal(err)
			}
			var mistake *Mistake
			if tc.want != "" && (!errors.As(err, &mistake) || string(mistake.Said) != tc.want) {
				t.Fatalf("Build = %v, want a mistake", err)
			}
			if took := time.Since(began); took < patience {
				t.Errorf("something was shown after %v, and is to be shown after %v", took, patience)
			}
			said := progress.String()
			if !strings.HasSuffix(said, tc.want) || strings.Contains(said, "\r") {
				t.Errorf("shown:\n%q\nwant lines, and %q at the end", said, tc.want)
			}
		})
	}
}

func TestABuildThatIsQuickShowsNothing(t *testing.T) {
	enough := slowGo(t, `echo program >"$out"`)
	if err := os.WriteFile(enough, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	progress := &listener{heard: func(string) {}}
	b := &Builder{Dir: t.TempDir(), Package: "./cmd", Output: filepath.Join(t.TempDir(), "p"), Progress: progress}
	began := time.Now()
	if err := b.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if said := progress.String(); said != "" && time.Since(began) < patience {
		t.Errorf("shown: %q", said)
	}
}
