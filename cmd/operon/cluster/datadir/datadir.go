package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	markerFile = "operon.json"
	lockFile   = "lock"
	portFile   = "port"
	layout     = 1

	temporaryPrefix = "operon-cluster-"
)

// Dir is an open, locked data directory.
type Dir struct {
	// Path is absolute.
	Path string
	// Temporary says that Close removes the directory.
	Temporary bool
	// Fresh says that no cluster was ever started in the directory.
	Fresh bool
	// Kubernetes is the version that used the directory last, empty where Fresh.
	Kubernetes string

	lock    *os.File
	created bool
}

// marker says that a directory is ours. Without a version of Kubernetes it says that a first start began and did not end: what is in the
// directory besides is of no use to anybody.
type marker struct {
	Layout     int    `json:"layout"`
	Kubernetes string `json:"kubernetes,omitempty"`
}

// InUseError says that another process holds the directory.
type InUseError struct {
	Path string
	// PID is that process, 0 where it is not known.
	PID int
}

func (e *InUseError) Error() string {
	by := "another operon cluster"
	if e.PID != 0 {
		by += fmt.Sprintf(" (process %d)", e.PID)
	}
	return fmt.Sprintf("data directory %s is in use by %s: stop it, or choose another --data-dir", e.Path, by)
}

// ForeignError says that the directory holds something that operon did not write.
type ForeignError struct{ Path string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("data directory %s is not empty and was not made by operon cluster: choose another --data-dir, or empty it", e.Path)
}

// Open locks the directory at path and creates it where it does not exist; an empty path makes a temporary directory.
// Errors are *InUseError, *ForeignError, or sentences that name the path.
func Open(path string) (*Dir, error) {
	if path == "" {
		return openTemporary()
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("data directory %s: %w", path, err)
	}
	d := &Dir{Path: abs}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(abs, 0o700); err != nil {
			return nil, fmt.Errorf("data directory %s cannot be created (%w): choose another --data-dir", abs, reason(err))
		}
		d.created = true
	case err != nil:
		return nil, fmt.Errorf("data directory %s cannot be used (%w): choose another --data-dir", abs, reason(err))
	case !info.IsDir():
		return nil, fmt.Errorf("data directory %s is a file: choose another --data-dir", abs)
	}
	if err := d.adopt(); err != nil {
		return nil, err
	}
	return d, nil
}

func openTemporary() (*Dir, error) {
	sweep()
	path, err := os.MkdirTemp("", temporaryPrefix)
	if err != nil {
		return nil, fmt.Errorf("no temporary directory (%w): set TMPDIR or give --data-dir", reason(err))
	}
	d := &Dir{Path: path, Temporary: true, created: true}
	if err := d.adopt(); err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	return d, nil
}

// sweep removes the temporary directories of processes that were killed: those that carry our marker and that nobody has locked.
func sweep() {
	paths, _ := filepath.Glob(filepath.Join(os.TempDir(), temporaryPrefix+"*"))
	for _, path := range paths {
		if _, err := readMarker(path); err != nil {
			continue
		}
		if lock, err := flock(path); err == nil {
			os.RemoveAll(path)
			lock.Close()
		}
	}
}

// adopt checks that the directory is ours or empty, and locks it.
func (d *Dir) adopt() error {
	foreign, err := d.foreign()
	if err != nil {
		return fmt.Errorf("data directory %s cannot be read (%w): choose another --data-dir", d.Path, reason(err))
	}
	if foreign {
		return &ForeignError{Path: d.Path}
	}
	d.lock, err = flock(d.Path)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return &InUseError{Path: d.Path, PID: lockHolder(d.Path)}
	}
	if err != nil {
		d.undo()
		return fmt.Errorf("data directory %s cannot be written (%w): choose another --data-dir", d.Path, reason(err))
	}
	if err := os.Chmod(d.Path, 0o700); err != nil {
		d.lock.Close()
		return fmt.Errorf("data directory %s does not belong to you (%w): choose another --data-dir", d.Path, reason(err))
	}
	m, err := readMarker(d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.Fresh = true
		if err := d.writeMarker(marker{Layout: layout}); err != nil {
			return errors.Join(fmt.Errorf("data directory %s cannot be written (%w): choose another --data-dir", d.Path, reason(err)), d.Discard())
		}
	case err != nil:
		d.lock.Close()
		return fmt.Errorf("data directory %s has an unreadable %s (%w): restore it, or choose another --data-dir", d.Path, markerFile, err)
	case m.Layout != layout:
		d.lock.Close()
		return fmt.Errorf("data directory %s has layout %d but this operon knows layout %d: use the operon that made it, or choose another --data-dir", d.Path, m.Layout, layout)
	case m.Kubernetes == "":
		d.Fresh = true
		if err := d.clear(lockFile, markerFile); err != nil {
			d.lock.Close()
			return fmt.Errorf("data directory %s holds half a cluster that cannot be removed (%w): choose another --data-dir", d.Path, reason(err))
		}
	default:
		d.Kubernetes = m.Kubernetes
	}
	return nil
}

// foreign says whether there is content and no marker. A lock alone is what an operon leaves that was stopped before it began.
func (d *Dir) foreign() (bool, error) {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		return false, err
	}
	ours := true
	for _, entry := range entries {
		switch entry.Name() {
		case markerFile:
			return false, nil
		case lockFile:
		default:
			ours = false
		}
	}
	return !ours, nil
}

// Mark records that the directory is ours and that this Kubernetes version uses it.
func (d *Dir) Mark(kubernetes string) error {
	if !d.Fresh && d.Kubernetes == kubernetes {
		return nil
	}
	return d.writeMarker(marker{Layout: layout, Kubernetes: kubernetes})
}

// Whole is an error that names the first of the parts that a directory in which a cluster was started should have, and has not.
func (d *Dir) Whole(parts ...string) error {
	if d.Fresh {
		return nil
	}
	for _, part := range parts {
		if _, err := os.Stat(d.Join(part)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("data directory %s has lost %s: restore it from a copy, or remove the data directory to begin anew", d.Path, part)
		}
	}
	return nil
}

// Join is the path of something in the directory.
func (d *Dir) Join(elem ...string) string {
	return filepath.Join(append([]string{d.Path}, elem...)...)
}

// Port is the port that the API server had last, 0 where none is known.
func (d *Dir) Port() int {
	data, err := os.ReadFile(d.Join(portFile))
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || port < 1 || port > 65535 {
		return 0
	}
	return port
}

// SetPort remembers the port for the next start.
func (d *Dir) SetPort(port int) error {
	return d.write(portFile, []byte(strconv.Itoa(port)+"\n"))
}

func (d *Dir) writeMarker(m marker) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return d.write(markerFile, data)
}

func (d *Dir) write(name string, data []byte) error {
	tmp := d.Join(name + ".tmp")
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, d.Join(name))
}

// Close gives the directory back and removes it if it is temporary.
func (d *Dir) Close() error {
	var err error
	if d.Temporary {
		err = os.RemoveAll(d.Path)
	}
	return errors.Join(err, d.lock.Close())
}

// Discard is Close for a start that did not succeed: a directory that was new is left as it was found.
func (d *Dir) Discard() error {
	if d.Fresh && !d.Temporary {
		if err := d.clear(); err != nil {
			return errors.Join(err, d.lock.Close())
		}
		d.undo()
	}
	return d.Close()
}

// clear removes what is in the directory, but for the files to keep.
func (d *Dir) clear(keep ...string) error {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !slices.Contains(keep, entry.Name()) {
			err = errors.Join(err, os.RemoveAll(d.Join(entry.Name())))
		}
	}
	return err
}

func (d *Dir) undo() {
	if d.created {
		os.Remove(d.Path)
	}
}

func readMarker(dir string) (marker, error) {
	var m marker
	data, err := os.ReadFile(filepath.Join(dir, markerFile))
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}

// flock takes the directory's lock and writes our process id into it. The lock goes with the process, however it ends.
func flock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
		if err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

func lockHolder(dir string) int {
	data, err := os.ReadFile(filepath.Join(dir, lockFile))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid
}

// reason strips the operation and path from an error whose sentence already names them.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
