package threeway

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// text has a line for each word.
func text(words string) string {
	if words == "" {
		return ""
	}
	return strings.ReplaceAll(words, " ", "\n") + "\n"
}

var cases = []struct {
	name, base, ours, theirs, want string
	conflicts                      int
}{
	{"nothing changed", "a b c", "a b c", "a b c", "a b c", 0},
	{"only ours", "a b c", "a x c", "a b c", "a x c", 0},
	{"only theirs", "a b c", "a b c", "a b c d", "a b c d", 0},
	{"both, apart", "a b c d e", "x b c d e", "a b c d y", "x b c d y", 0},
	{"both alike", "a b c", "a x c", "a x c", "a x c", 0},
	{"both delete", "a b c", "a c", "a c", "a c", 0},
	{"different changes of a line", "a b c", "a x c", "a y c", "a <<<<<<<_o x ======= y >>>>>>>_t c", 1},
	{"changes side by side", "a b c d", "a x c d", "a b y d", "a <<<<<<<_o x c ======= b y >>>>>>>_t d", 1},
	{"deleted and changed", "a b c", "a c", "a y c", "a <<<<<<<_o ======= y >>>>>>>_t c", 1},
	{"different insertions", "a b", "a x b", "a y b", "a <<<<<<<_o x ======= y >>>>>>>_t b", 1},
	{"insertions with a common beginning", "a b", "a s x b", "a s y b", "a s <<<<<<<_o x ======= y >>>>>>>_t b", 1},
	{"two conflicts", "a b c d f g e", "x b c d f g p", "y b c d f g q", "<<<<<<<_o x ======= y >>>>>>>_t b c d f g <<<<<<<_o p ======= q >>>>>>>_t", 2},
	{"no base", "", "x", "y", "<<<<<<<_o x ======= y >>>>>>>_t", 1},
}

func TestMerge(t *testing.T) {
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			got, conflicts := Merge(text(tt.base), text(tt.ours), text(tt.theirs), Labels{"o", "t"})
			want := strings.NewReplacer("<<<<<<<_", "<<<<<<< ", ">>>>>>>_", ">>>>>>> ").Replace(text(tt.want))
			if diff := cmp.Diff(want, got); diff != "" || conflicts != tt.conflicts {
				t.Errorf("%d conflicts, want %d (-want +got):\n%s", conflicts, tt.conflicts, diff)
			}
		})
	}
}

func TestMergeIsWhatGitMergeFileMakes(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range map[string]string{"base": tt.base, "ours": tt.ours, "theirs": tt.theirs} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text(content)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(git, "merge-file", "-p", "-L", "o", "-L", "b", "-L", "t", "ours", "base", "theirs")
			cmd.Dir = dir
			want, err := cmd.Output()
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 {
				t.Fatal(err)
			}
			got, conflicts := Merge(text(tt.base), text(tt.ours), text(tt.theirs), Labels{"o", "t"})
			if diff := cmp.Diff(string(want), got); diff != "" || conflicts != cmd.ProcessState.ExitCode() {
				t.Errorf("%d conflicts, git has %d (-git +got):\n%s", conflicts, cmd.ProcessState.ExitCode(), diff)
			}
		})
	}
}

func TestTextsWithoutAFinalNewlineAreMerged(t *testing.T) {
	if got, _ := Merge("a\nb", "a\nb", "a\nc", Labels{}); got != "a\nc" {
		t.Errorf("%q", got)
	}
	if got, n := Merge("a\nb", "a\nx", "a\ny", Labels{"o", "t"}); got != "a\n<<<<<<< o\nx\n=======\ny\n>>>>>>> t\n" || n != 1 {
		t.Errorf("%d: %q", n, got)
	}
}

func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n", "a\nb\nc\nd\n")
	f.Add("", "x", "y\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		for _, tt := range []struct{ name, base, ours, theirs, want string }{
			{"ours is the base", base, base, theirs, theirs},
			{"theirs is the base", base, ours, base, ours},
			{"both are alike", base, ours, ours, ours},
		} {
			if got, conflicts := Merge(tt.base, tt.ours, tt.theirs, Labels{}); got != tt.want || conflicts != 0 {
				t.Errorf("%s: %d conflicts, %q instead of %q", tt.name, conflicts, got, tt.want)
			}
		}
		merged, conflicts := Merge(base, ours, theirs, Labels{"o", "t"})
		reverse, same := Merge(base, theirs, ours, Labels{"t", "o"})
		if conflicts != same || conflicts == 0 && merged != reverse {
			t.Errorf("one way %d conflicts: %q; the other way %d: %q", conflicts, merged, same, reverse)
		}
	})
}
