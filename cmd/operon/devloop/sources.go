package devloop

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/operon-dev/operon/cmd/operon/devloop/stamp"
)

// quiet is how long nothing must change before a cycle begins: editors write a file in several steps, which follow each other within milliseconds.
const quiet = 20 * time.Millisecond

// A snapshot is the state of the sources at one time.
type snapshot map[string]stamp.Stamp

// isSource reports whether the manager or its manifests are made from a file.
func isSource(path string) bool {
	switch filepath.Ext(path) {
	case ".go":
		return !strings.HasSuffix(path, "_test.go")
	case ".mod", ".sum", ".work", ".yaml", ".yml", ".json", ".tmpl":
		return true
	}
	return filepath.Base(path) == "PROJECT"
}

// skip reports whether a directory below the root holds no sources, only results and other tools' things.
func skip(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"bin", "dist", "testdata", "node_modules", "test"}, name)
}

// walk calls dir for each directory of the project that may hold sources and file for each source.
func walk(root string, dir func(path string) error, file func(path string, info fs.FileInfo)) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it went away while we walked
		case err != nil:
			return err
		case d.IsDir() && path != root && skip(d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return dir(path)
		case isSource(path):
			info, err := os.Stat(path)
			if err == nil {
				file(path, info)
			}
		}
		return nil
	})
}

func takeSnapshot(root string) (snapshot, error) {
	s := snapshot{}
	err := walk(root, func(string) error { return nil }, func(path string, info fs.FileInfo) {
		s[path] = stamp.From(info)
	})
	return s, err
}

// code is the part of a snapshot that the compiler may read.
func (s snapshot) code() snapshot {
	code := snapshot{}
	for path, then := range s {
		if filepath.Ext(path) == ".go" {
			code[path] = then
		}
	}
	return code
}

// changed returns a source that is not the same in both snapshots, relative to root, or nothing.
func (s snapshot) changed(other snapshot, root string) string {
	var paths []string
	for path, then := range s {
		if other[path] != then {
			paths = append(paths, path)
		}
	}
	for path := range other {
		if _, ok := s[path]; !ok {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return ""
	}
	slices.Sort(paths)
	name, err := filepath.Rel(root, paths[0])
	if err != nil {
		return paths[0]
	}
	return name
}

// A watcher tells when something may have changed below a root.
type watcher struct {
	root     string
	notifier *fsnotify.Watcher
}

func newWatcher(root string) (*watcher, error) {
	notifier, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &watcher{root, notifier}
	if err := w.add(root); err != nil {
		return nil, errors.Join(err, notifier.Close())
	}
	return w, nil
}

// add watches a directory and those below it.
func (w *watcher) add(dir string) error {
	return walk(dir, w.notifier.Add, func(string, fs.FileInfo) {})
}

func (w *watcher) close() error { return w.notifier.Close() }

// next returns when the sources differ from s and nothing has changed for a while, with the name of one that differs. It returns
// an error when ctx ends, or when watching fails.
func (w *watcher) next(ctx context.Context, s snapshot) (string, error) {
	// What was saved before the call has no event to come.
	calm := time.NewTimer(0)
	defer calm.Stop()
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case err := <-w.notifier.Errors:
			// An overflow loses events, not changes: the snapshot sees them.
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return "", err
			}
			calm.Reset(quiet)
		case event := <-w.notifier.Events:
			matters, err := w.matters(event)
			if err != nil {
				return "", err
			}
			if matters {
				calm.Reset(quiet)
			}
		case <-calm.C:
			now, err := takeSnapshot(w.root)
			if err != nil {
				return "", err
			}
			if name := now.changed(s, w.root); name != "" {
				return name, nil
			}
		}
	}
}

// matters reports whether sources may differ after an event. A directory that is new is watched from then on.
func (w *watcher) matters(event fsnotify.Event) (bool, error) {
	if info, err := os.Stat(event.Name); err == nil && info.IsDir() {
		if !event.Has(fsnotify.Create) || skip(info.Name()) {
			return false, nil
		}
		return true, w.add(event.Name)
	}
	return isSource(event.Name) || event.Has(fsnotify.Remove|fsnotify.Rename), nil
}
