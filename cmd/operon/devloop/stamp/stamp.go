// Package stamp tells whether a file has changed without reading it: by its time of modification and its size, as Go's build cache and make do.
//
// Not guaranteed: that a file which was written twice within the file system's resolution of time, with as many bytes, is seen to have changed.
package stamp

import (
	"io/fs"
	"os"
	"time"
)

// A Stamp tells two contents of a file apart, by ==. That of a file which is not there is zero.
type Stamp struct {
	modified time.Time
	size     int64
}

// Of returns the stamp of the file at a path.
func Of(path string) Stamp {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}
	}
	return From(info)
}

// From returns the stamp of a file that was looked at before.
func From(info fs.FileInfo) Stamp { return Stamp{info.ModTime(), info.Size()} }
