package diag_test

import (
	"bytes"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

func TestMistakesArePrintedOnceInOrderWithTheirLines(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.go")
	if err := os.WriteFile(name, []byte("package a\n\n\t// +ünï=x\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var list diag.List
	if !list.Empty() {
		t.Error("a new list is not empty")
	}
	later := diag.Mistake{Pos: token.Position{Filename: name, Line: 3, Column: 5}, Len: 8, What: "unknown", Fix: "did you mean +uni?"}
	list.Add(later, later)
	list.Addf(token.Position{Filename: name, Line: 1, Column: 9}, "bad name %q", "a")
	list.Addf(token.Position{Filename: filepath.Join(dir, "gone.go"), Line: 9, Column: 1}, "no such line")
	list.Addf(token.Position{}, "about everything")
	var printed bytes.Buffer
	list.Print(&printed, dir)
	want := `about everything
a.go:1:9: bad name "a"
    package a
            ^
a.go:3:5: unknown: did you mean +uni?
    	// +ünï=x
    	   ^^^^^^
gone.go:9:1: no such line
`
	if printed.String() != want {
		t.Errorf("printed:\n%s\nwant:\n%s", printed.String(), want)
	}
}
