package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/cmd/operon/generate"
)

// output gathers what the generators rendered, each piece at its place.
type output struct {
	// dir is what paths are relative to.
	dir    string
	order  []string
	files  map[string][]byte
	stdout bytes.Buffer
}

func (o *output) add(r rule, all []generate.Artifact) {
	for _, a := range all {
		path, ok := r.place(a)
		if ok && a.Fixed {
			path, _ = artifacts{}.place(a)
		}
		switch {
		case !ok:
		case path == "":
			o.stdout.Write(a.Data)
		default:
			if !filepath.IsAbs(path) {
				path = filepath.Join(o.dir, path)
			}
			if o.files == nil {
				o.files = map[string][]byte{}
			}
			if _, again := o.files[path]; !again {
				o.order = append(o.order, path)
			}
			o.files[path] = a.Data
		}
	}
}

// write writes all files whose content is new, and returns their paths. It prepares every one of them before it puts the first in place.
func (o *output) write(w io.Writer) (changed []string, err error) {
	type prepared struct{ temporary, path string }
	var ready []prepared
	defer func() {
		for _, p := range ready {
			err = errors.Join(err, ignoreMissing(os.Remove(p.temporary)))
		}
	}()
	for _, path := range o.order {
		same, exists, mode, err := unchanged(path, o.files[path])
		if err != nil {
			return nil, err
		}
		if same {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		temporary, err := os.OpenFile(path+".operon-new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
		if err != nil {
			return nil, err
		}
		ready = append(ready, prepared{temporary.Name(), path})
		_, err = temporary.Write(o.files[path])
		if exists {
			// Creating it was subject to the umask.
			err = errors.Join(err, temporary.Chmod(mode))
		}
		if err := errors.Join(err, temporary.Close()); err != nil {
			return nil, err
		}
	}
	for len(ready) > 0 {
		if err := os.Rename(ready[0].temporary, ready[0].path); err != nil {
			return changed, err
		}
		changed = append(changed, ready[0].path)
		ready = slices.Delete(ready, 0, 1)
	}
	_, err = w.Write(o.stdout.Bytes())
	return changed, err
}

// unchanged reports whether a file has the content already, whether it exists, and the mode for a new one in its place.
func unchanged(path string, data []byte) (same, exists bool, mode fs.FileMode, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, 0o666, nil
	}
	if err != nil {
		return false, false, 0, err
	}
	if info.IsDir() {
		return false, false, 0, fmt.Errorf("%s is a directory: a file is to be written there", path)
	}
	if info.Size() != int64(len(data)) {
		return false, true, info.Mode().Perm(), nil
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return false, false, 0, err
	}
	return bytes.Equal(old, data), true, info.Mode().Perm(), nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
