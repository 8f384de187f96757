package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repository returns a repository of one commit, with a project in a directory of it.
func repository(t *testing.T) (top, root string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "HOME": t.TempDir(), "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		t.Setenv(name, value)
	}
	top = t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(top))
	root = filepath.Join(top, "operator")
	put(t, filepath.Join(root, "cmd", "main.go"), "package main\n")
	put(t, filepath.Join(top, "other"), "of another\n")
	run(t, top, "init", "-q")
	run(t, top, "add", "-A")
	run(t, top, "commit", "-q", "-m", "made")
	return top, root
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestCheckCleanNamesWhatIsNotCommitted(t *testing.T) {
	top, root := repository(t)
	put(t, filepath.Join(top, "beside"), "not of the project\n")
	if err := CheckClean(t.Context(), root); err != nil {
		t.Errorf("all is committed: %v", err)
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		put(t, filepath.Join(root, name), "new\n")
	}
	err := CheckClean(t.Context(), root)
	if err == nil || !strings.Contains(err.Error(), "2 more") || !strings.Contains(err.Error(), "--force") {
		t.Errorf("five new files: %v", err)
	}
}

func TestCheckCleanSaysWhyItCannotTell(t *testing.T) {
	outside := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(outside))
	if err := CheckClean(t.Context(), outside); err == nil || !strings.Contains(err.Error(), "not in a git repository") {
		t.Errorf("outside of a repository: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := CheckClean(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "git is not installed") {
		t.Errorf("without git: %v", err)
	}
}

func TestFilesAreThoseOfTheProjectInACommit(t *testing.T) {
	_, root := repository(t)
	put(t, filepath.Join(root, "cmd", "main.go"), "package changed\n")
	got, err := Files(t.Context(), root, "HEAD")
	if diff := cmp.Diff(map[string]string{"cmd/main.go": "package main\n"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, ref := range []string{"nothing", "--output=x"} {
		if _, err := Files(t.Context(), root, ref); err == nil {
			t.Errorf("%s is a commit", ref)
		}
	}
}
