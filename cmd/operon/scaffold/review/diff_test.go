package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
)

func plan(t *testing.T) *fileset.Set {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{"changed": "a\nb\n", "gone": "x\n", "go.sum": "1\n2\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := fileset.New(root, true)
	for _, err := range []error{
		set.Create("changed", "a\nc\n"), set.Create("new", "n"), set.Remove("gone"), set.Create("go.sum", "2\n3\n4\n"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return set
}

func TestDiffShowsEachFileAndCountsTheLinesOfGoSum(t *testing.T) {
	var out strings.Builder
	if err := Diff(&out, plan(t), false); err != nil {
		t.Fatal(err)
	}
	want := `--- a/changed
+++ b/changed
@@ -1,2 +1,2 @@
 a
-b
+c
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+n
\ No newline at end of file
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
--- a/go.sum
+++ b/go.sum
(2 lines added, 1 removed: not shown)
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestColoursAreBesideTheText(t *testing.T) {
	var coloured, plainly strings.Builder
	set := plan(t)
	if err := Diff(&coloured, set, true); err != nil {
		t.Fatal(err)
	}
	if err := Diff(&plainly, set, false); err != nil {
		t.Fatal(err)
	}
	text := coloured.String()
	if !strings.Contains(text, green+"+c"+plain+"\n") || !strings.Contains(text, red+"-b"+plain+"\n") {
		t.Errorf("no colours: %q", text)
	}
	if diff := cmp.Diff(plainly.String(), strings.NewReplacer(plain, "", bold, "", red, "", green, "", cyan, "").Replace(text)); diff != "" {
		t.Errorf("colours change the text (-plain +coloured):\n%s", diff)
	}
}
