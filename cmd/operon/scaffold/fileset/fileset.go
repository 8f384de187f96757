package fileset

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// An Op is what happens to a file.
type Op string

// What happens to a file, in the words that verbs print.
const (
	Created Op = "create"
	Changed Op = "change"
	Removed Op = "remove"
)

// A Change is one file of a plan.
type Change struct {
	// Path is relative to the Set's directory, with slashes.
	Path string
	Op   Op
}

// A Set is a plan of changes to the files of a directory.
type Set struct {
	root  string
	force bool
	files map[string]*file
	order []string
}

type file struct {
	was  []byte // nil: was not there
	is   []byte // nil: will not be there
	mode fs.FileMode
	// crlf says that the file on the disk ends its lines with CR and LF. Here they end with LF alone, whichever they do there.
	crlf bool
	// fresh is set by Create: what was there is not to be replaced.
	fresh bool
}

// New returns an empty plan for a directory. With force, Create replaces files that are there.
func New(root string, force bool) *Set {
	return &Set{root: root, force: force, files: map[string]*file{}}
}

// Root is the directory.
func (s *Set) Root() string { return s.root }

func (s *Set) load(path string) (*file, error) {
	if f := s.files[path]; f != nil {
		return f, nil
	}
	f := &file{mode: 0o644}
	full := s.full(path)
	data, err := os.ReadFile(full)
	switch {
	case err == nil:
		if info, err := os.Stat(full); err == nil {
			f.mode = info.Mode().Perm()
		}
		f.was = append([]byte{}, data...)
		if lines := bytes.Count(data, []byte("\n")); lines > 0 && lines == bytes.Count(data, []byte("\r\n")) {
			f.crlf = true
			f.was = bytes.ReplaceAll(f.was, []byte("\r\n"), []byte("\n"))
		}
		f.is = f.was
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	s.files[path] = f
	s.order = append(s.order, path)
	return f, nil
}

// Read returns a file as the plan has it. The error is fs.ErrNotExist where there is none.
func (s *Set) Read(path string) (string, error) {
	f, err := s.load(path)
	if err != nil {
		return "", err
	}
	if f.is == nil {
		return "", fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return string(f.is), nil
}

// Before returns what a file has on the disk, or "" where there is none.
func (s *Set) Before(path string) string {
	f, err := s.load(path)
	if err != nil {
		return ""
	}
	return string(f.was)
}

// Exists reports whether the plan has a file.
func (s *Set) Exists(path string) bool {
	f, err := s.load(path)
	return err == nil && f.is != nil
}

// Create adds a file. That it is there already is an error of Commit, unless its content is the same.
func (s *Set) Create(path, content string) error {
	f, err := s.load(path)
	if err != nil {
		return err
	}
	f.is, f.fresh = []byte(content), true
	return nil
}

// Edit changes a file that is there.
func (s *Set) Edit(path string, edit func(content string) (string, error)) error {
	content, err := s.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: put it back first, since something is to be added to it", err)
	}
	if err != nil {
		return err
	}
	edited, err := edit(content)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	s.files[path].is = []byte(edited)
	return nil
}

// Remove takes a file away. One that is not there stays so.
func (s *Set) Remove(path string) error {
	f, err := s.load(path)
	if err != nil {
		return err
	}
	f.is = nil
	return nil
}

// Changes lists the plan in the order in which it was made. Files that end as they were are not in it.
func (s *Set) Changes() []Change {
	var changes []Change
	for _, path := range s.order {
		f := s.files[path]
		switch {
		case f.was == nil && f.is != nil:
			changes = append(changes, Change{path, Created})
		case f.was != nil && f.is == nil:
			changes = append(changes, Change{path, Removed})
		case !bytes.Equal(f.was, f.is):
			changes = append(changes, Change{path, Changed})
		}
	}
	return changes
}

// Commit makes the changes, and removes directories that they empty. It returns an error, and changes nothing, where a file
// that was to be created is there with other content. SIGINT and SIGTERM are held while it writes: then what was written is put back as it was,
// and the error says so.
func (s *Set) Commit() error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	return s.commit(interrupts)
}

// exist is the error that files which were to be created are there already.
func exist(paths []string) error {
	verb := "exists"
	if len(paths) > 1 {
		verb = "exist"
	}
	return fmt.Errorf("%s %s already: move what is there away, or have it overwritten with --force", strings.Join(paths, ", "), verb)
}

// errInterrupted says that somebody would not wait for the end of Commit.
var errInterrupted = errors.New("interrupted")

func (s *Set) commit(interrupts <-chan os.Signal) error {
	changes := s.Changes()
	if !s.force {
		var there []string
		for _, c := range changes {
			if c.Op == Changed && s.files[c.Path].fresh {
				there = append(there, c.Path)
			}
		}
		if len(there) > 0 {
			slices.Sort(there)
			return exist(there)
		}
	}
	for i, c := range changes {
		err := s.put(c.Path, s.files[c.Path].is)
		select {
		case <-interrupts:
			err = errInterrupted
		default:
		}
		if err != nil {
			var lost []string
			for _, done := range slices.Backward(changes[:i+1]) {
				if !s.as(done.Path) && s.put(done.Path, s.files[done.Path].was) != nil {
					lost = append(lost, done.Path)
				}
			}
			if path := (*fs.PathError)(nil); errors.As(err, &path) { // which may be that of a temporary file
				err = path.Err
			}
			if len(lost) > 0 {
				return fmt.Errorf("%s: %w; nor could these be put back as they were: %s", c.Path, err, strings.Join(lost, ", "))
			}
			if err == errInterrupted {
				return fmt.Errorf("%w: nothing is changed", err)
			}
			return fmt.Errorf("%s: %w: nothing is changed; make the project's directory writable, or see that there is space", c.Path, err)
		}
	}
	return nil
}

// as reports whether a file is on the disk as it was when the plan was made.
func (s *Set) as(path string) bool {
	data, err := os.ReadFile(s.full(path))
	was := s.files[path].was
	return was == nil && errors.Is(err, fs.ErrNotExist) || was != nil && err == nil && bytes.Equal(data, s.files[path].encode(was))
}

// encode is content as the file on the disk has it.
func (f *file) encode(content []byte) []byte {
	if f.crlf {
		return bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
	}
	return content
}

func (s *Set) full(path string) string { return filepath.Join(s.root, filepath.FromSlash(path)) }

// put writes a file whole, or removes it where content is nil. What a symbolic link leads to is written; the link stays.
func (s *Set) put(path string, content []byte) error {
	full := s.full(path)
	if content == nil {
		if err := os.Remove(full); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.removeEmpty(filepath.Dir(full))
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	temporary := full + ".operon-tmp"
	err := os.WriteFile(temporary, s.files[path].encode(content), s.files[path].mode)
	if err == nil {
		err = os.Rename(temporary, full)
	}
	if err != nil {
		_ = os.Remove(temporary) // if it is there at all
	}
	return err
}

func (s *Set) removeEmpty(dir string) {
	for dir != s.root && len(dir) > len(s.root) && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}
