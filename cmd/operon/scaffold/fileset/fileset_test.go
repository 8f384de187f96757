package fileset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func put(t *testing.T, root, path, content string) {
	t.Helper()
	full := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tree is the content of all files below a directory.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, path))
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCommitMakesAllChanges(t *testing.T) {
	root := t.TempDir()
	put(t, root, "main.go", "a\n")
	put(t, root, "deep/er/gone", "x")
	put(t, root, "same", "s")
	s := New(root, false)
	for _, err := range []error{
		s.Create("new/file", "n"),
		s.Create("same", "s"),
		s.Edit("main.go", func(c string) (string, error) { return c + "b\n", nil }),
		s.Edit("main.go", func(c string) (string, error) { return c + "c\n", nil }),
		s.Remove("deep/er/gone"),
		s.Remove("never there"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]string{"main.go": "a\n", "deep/er/gone": "x", "same": "s"}, tree(t, root)); diff != "" {
		t.Errorf("files changed before Commit (-want +got):\n%s", diff)
	}
	want := []Change{{"new/file", Created}, {"main.go", Changed}, {"deep/er/gone", Removed}}
	if diff := cmp.Diff(want, s.Changes()); diff != "" {
		t.Errorf("Changes (-want +got):\n%s", diff)
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"main.go": "a\nb\nc\n", "new/file": "n", "same": "s"}, tree(t, root)); diff != "" {
		t.Errorf("after Commit (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(root, "deep")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty directory stayed: %v", err)
	}
}

func TestCreateNeverReplacesUnlessForced(t *testing.T) {
	root := t.TempDir()
	put(t, root, "b", "precious")
	put(t, root, "a", "precious")
	before := tree(t, root)
	for _, force := range []bool{false, true} {
		s := New(root, force)
		for _, path := range []string{"b", "a", "c"} {
			if err := s.Create(path, "new"); err != nil {
				t.Fatal(err)
			}
		}
		err := s.Commit()
		if !force {
			if err == nil || !strings.HasPrefix(err.Error(), "a, b exist already") {
				t.Errorf("Commit: %v", err)
			}
			if diff := cmp.Diff(before, tree(t, root)); diff != "" {
				t.Errorf("a refused Commit changed files:\n%s", diff)
			}
		} else if err != nil || tree(t, root)["a"] != "new" {
			t.Errorf("forced: %v", err)
		}
	}
}

func TestAFailedCommitPutsEverythingBack(t *testing.T) {
	root := t.TempDir()
	put(t, root, "main.go", "a")
	put(t, root, "gone", "x")
	put(t, root, "blocker", "a file where a directory is needed")
	before := tree(t, root)
	s := New(root, false)
	for _, err := range []error{
		s.Edit("main.go", func(string) (string, error) { return "b", nil }),
		s.Remove("gone"),
		s.Create("new/file", "n"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.files["blocker/below"] = &file{is: []byte("n"), mode: 0o644}
	s.order = append(s.order, "blocker/below")
	if err := s.Commit(); err == nil {
		t.Fatal("Commit succeeded")
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestEditNamesTheFile(t *testing.T) {
	s := New(t.TempDir(), false)
	if err := s.Edit("missing", nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("missing file: %v", err)
	}
}

func TestLinesKeepTheirEndsAndLinksStayLinks(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	for path, content := range map[string]string{filepath.Join(dir, "dos"): "a\r\nb\r\n", filepath.Join(dir, "mixed"): "a\r\nb\n", elsewhere: "a\n"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	set := New(dir, false)
	for _, path := range []string{"dos", "mixed", "link"} {
		if err := set.Edit(path, func(content string) (string, error) {
			if path == "dos" && content != "a\nb\n" {
				t.Errorf("dos is edited as %q", content)
			}
			return content + "c\n", nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := set.Commit(); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(dir, "dos"): "a\r\nb\r\nc\r\n", filepath.Join(dir, "mixed"): "a\r\nb\nc\n", elsewhere: "a\nc\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", path, got, err, want)
		}
	}
	if target, err := os.Readlink(filepath.Join(dir, "link")); err != nil || target != elsewhere {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}

func TestAnInterruptedCommitChangesNothing(t *testing.T) {
	root := t.TempDir()
	put(t, root, "changed", "a")
	put(t, root, "removed", "b")
	before := tree(t, root)
	s := New(root, true)
	for _, err := range []error{
		s.Edit("changed", func(c string) (string, error) { return c + c, nil }),
		s.Remove("removed"),
		s.Create("new/file", "n"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	interrupts := make(chan os.Signal, 1)
	interrupts <- os.Interrupt
	if err := s.commit(interrupts); !errors.Is(err, errInterrupted) {
		t.Errorf("commit: %v, want that it was interrupted", err)
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	if err := s.commit(nil); err != nil {
		t.Errorf("the same plan, afterwards: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"changed": "aa", "new/file": "n"}, tree(t, root)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
