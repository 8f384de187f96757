package worktree

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// namedFiles is how many of the files that are not committed an error names.
const namedFiles = 3

// CheckClean returns an error, one sentence with the way out, unless every file below root is committed: only then can a change be looked at and
// taken back with git.
func CheckClean(ctx context.Context, root string) error {
	out, err := git(ctx, root, "status", "--porcelain", "--untracked-files=all", "--", ".")
	if err != nil {
		return err
	}
	var files []string
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimRight(line, "\n"); len(line) > 3 {
			files = append(files, line[3:])
		}
	}
	switch {
	case len(files) == 0:
		return nil
	case len(files) > namedFiles:
		files = append(files[:namedFiles], fmt.Sprintf("%d more", len(files)-namedFiles))
	}
	return fmt.Errorf("there are changes that are not committed (%s): commit them, so that they can be told from what comes now, or go on with --force", strings.Join(files, ", "))
}

// Files returns the files below root as a commit has them, by their paths relative to root. ref is whatever git takes for a commit.
func Files(ctx context.Context, root, ref string) (map[string]string, error) {
	if strings.HasPrefix(ref, "-") {
		return nil, fmt.Errorf("%q is not the name of a commit", ref)
	}
	out, err := git(ctx, root, "archive", "--format=tar", ref)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(out)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("git archive %s: %w", ref, err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("git archive %s: %s: %w", ref, header.Name, err)
		}
		files[header.Name] = string(data)
	}
}

func git(ctx context.Context, root string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("git is not installed, and without it a change can't be taken back: install it and commit the project, or go on with --force")
	case strings.Contains(said, "not a git repository"):
		return nil, fmt.Errorf("%s is not in a git repository, so a change could not be taken back: git init, git add and git commit first, or go on with --force", root)
	case said != "":
		return nil, fmt.Errorf("git %s: %s", args[0], strings.TrimPrefix(said, "fatal: "))
	default:
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
}
