package setupenvtest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// programs are what a version's directory holds.
var programs = []string{"etcd", "kube-apiserver", "kubectl"}

// ownName is this binary's in a directory whose programs it is.
const ownName = "operon"

// version is a directory of the store, or one that the store could have.
type version struct {
	number   number
	os, arch string
	dir      string
}

// store is a directory of versions.
type store struct {
	dir string
	// executable is this binary.
	executable string
}

func (s store) version(n number, os, arch string) version {
	return version{number: n, os: os, arch: arch, dir: filepath.Join(s.dir, fmt.Sprintf("%s-%s-%s", n, os, arch))}
}

// versions lists what the store has, the latest first. os and arch may be "*".
func (s store) versions(which selector, os, arch string) ([]version, error) {
	entries, err := readDir(s.dir)
	if err != nil {
		return nil, err
	}
	var found []version
	for _, entry := range entries {
		parts := strings.Split(entry.Name(), "-")
		if len(parts) != 3 {
			continue
		}
		n, ok := parseNumber(parts[0])
		if ok && which.has(n) && (os == "*" || os == parts[1]) && (arch == "*" || arch == parts[2]) {
			found = append(found, s.version(n, parts[1], parts[2]))
		}
	}
	slices.SortStableFunc(found, func(a, b version) int { return b.number.compare(a.number) })
	return found, nil
}

func readDir(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// complete says whether the version's programs can be executed.
func (v version) complete() bool {
	return !slices.ContainsFunc(programs, func(name string) bool {
		info, err := os.Stat(filepath.Join(v.dir, name))
		return err != nil || !info.Mode().IsRegular()
	})
}

// ours says whether the version was made here, and not downloaded.
func (v version) ours() bool {
	_, err := os.Lstat(filepath.Join(v.dir, ownName))
	return err == nil
}

// upToDate says whether the version's programs are this binary, or were downloaded.
func (s store) upToDate(v version) bool {
	if !v.complete() {
		return false
	}
	if !v.ours() {
		return true
	}
	self, err := os.Stat(s.executable)
	if err != nil {
		return false
	}
	there, err := os.Stat(filepath.Join(v.dir, ownName))
	return err == nil && (os.SameFile(self, there) || self.Size() == there.Size() && self.ModTime().Equal(there.ModTime()))
}

// make makes the version's directory: all of it, or nothing.
func (s store) make(v version) (err error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	partial, err := os.MkdirTemp(s.dir, ".new-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(partial)) }()
	own := filepath.Join(partial, ownName)
	if err := s.placeSelf(own); err != nil {
		return err
	}
	for _, name := range programs {
		path := filepath.Join(partial, name)
		if os.Symlink(ownName, path) != nil && os.Link(own, path) != nil {
			if err := copyFile(own, path); err != nil {
				return err
			}
		}
	}
	if err := os.Chmod(partial, 0o755); err != nil {
		return err
	}
	if err := remove(v.dir); err != nil {
		return err
	}
	return os.Rename(partial, v.dir)
}

// placeSelf links to this binary. One that will not stay where it is, such as that of "go run", is copied.
func (s store) placeSelf(path string) error {
	rel, err := filepath.Rel(os.TempDir(), s.executable)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		if os.Symlink(s.executable, path) == nil {
			return nil
		}
	}
	return copyFile(s.executable, path)
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// remove removes a version's directory, which setup-envtest makes read-only.
func remove(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}
