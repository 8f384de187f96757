package templates

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

func TestTheSameTemplatesMakeTheSameArchive(t *testing.T) {
	one, err := Pack()
	if err != nil {
		t.Fatal(err)
	}
	other, err := Pack()
	if err != nil || !bytes.Equal(one, other) {
		t.Errorf("Pack twice: %v", err)
	}
}

func TestArchivesHoldTemplates(t *testing.T) {
	sets, err := Archived()
	if err != nil || len(sets) == 0 {
		t.Fatalf("Archived: %d, %v", len(sets), err)
	}
	for _, set := range sets {
		if text, err := set.Render("init/gitignore", nil); err != nil || text == "" {
			t.Errorf("%s: %q, %v", set.Name, text, err)
		}
	}
	if last := sets[len(sets)-1]; last.Name != "scaffold 1" {
		t.Errorf("the first scaffold is %q", last.Name)
	}
}

func TestASetRendersItsOwnTemplatesOnly(t *testing.T) {
	set := FromFS("other", fstest.MapFS{
		"init/a.tmpl":         {Data: []byte("{{.}} of another scaffold\n")},
		"api/kind.go.tmpl":    {Data: []byte("{{/* nothing */}}")},
		"init/broken.go.tmpl": {Data: []byte("not Go")},
	})
	if text, err := set.Render("init/a", "a"); err != nil || text != "a of another scaffold\n" {
		t.Errorf("a: %q, %v", text, err)
	}
	if _, err := set.Render("init/main.go", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a template that is not there: %v", err)
	}
	if _, err := set.Render("init/broken.go", nil); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a template that makes no Go: %v", err)
	}
}
