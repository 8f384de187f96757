package migrate

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnInterruptLeavesTheProjectAsItIsAndNothingBehind(t *testing.T) {
	root, _ := newProject(t, small)
	temporary := t.TempDir()
	t.Chdir(root)
	t.Setenv("TMPDIR", temporary)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	cmd := NewCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"--yes", "--force"})
	if err := cmd.ExecuteContext(ctx); err == nil || err.Error() != "interrupted: nothing is changed" {
		t.Errorf("migrate: %v", err)
	}
	for name, want := range small {
		got, err := os.ReadFile(filepath.Join(root, name))
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%s: %v (-was +is):\n%s", name, err, diff)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
