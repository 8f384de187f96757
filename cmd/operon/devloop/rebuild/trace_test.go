package rebuild

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestATraceHasTheStepsOfTheCompilerAndTheLinker(t *testing.T) {
	got, err := readTrace(`mkdir -p $WORK/b002/

#
# example.com/p/low
#

echo '# import config' > $WORK/b002/importcfg # internal
cat >$WORK/b002/embedcfg << 'EOF' # internal
{"Files": {}}EOF
cd /home/me/my p
"/opt/my go/compile" -o $WORK/b002/_pkg_.a -trimpath "$WORK/b002=>" -importcfg $WORK/b002/importcfg ./low.go
go tool buildid -w $WORK/b002/_pkg_.a # internal
cat >$WORK/b001/importcfg.link << 'EOF' # internal
packagefile example.com/p/low=$WORK/b002/_pkg_.a
modinfo "a\nb"
EOF
cd .
GOROOT='/opt/my go' /opt/link -o $WORK/b001/exe/a.out -importcfg $WORK/b001/importcfg.link -X "main.v=1 \"2\"" $WORK/b001/_pkg_.a
mv $WORK/b001/exe/a.out p
`)
	if err != nil {
		t.Fatal(err)
	}
	want := trace{
		compile: map[string]step{"$WORK/b002/_pkg_.a": {
			dir:  "/home/me/my p",
			args: []string{"/opt/my go/compile", "-o", "$WORK/b002/_pkg_.a", "-trimpath", "$WORK/b002=>", "-importcfg", "$WORK/b002/importcfg", "./low.go"},
		}},
		link: step{
			args:   []string{"/opt/link", "-o", "$WORK/b001/exe/a.out", "-importcfg", "$WORK/b001/importcfg.link", "-X", `main.v=1 "2"`, "$WORK/b001/_pkg_.a"},
			config: "packagefile example.com/p/low=$WORK/b002/_pkg_.a\nmodinfo \"a\\nb\"\n",
		},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(trace{}, step{})); diff != "" {
		t.Error(diff)
	}
}

func TestATraceWithoutALinkerIsNone(t *testing.T) {
	for _, text := range []string{"", "mkdir x\n", "cat >x << 'EOF' # internal\n"} {
		if _, err := readTrace(text); err == nil {
			t.Errorf("%q is taken for a trace", text)
		}
	}
}
