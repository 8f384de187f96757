package templates

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Scaffolds that were released are kept as archive/N.zip, N counting from 1. A release whose templates are not those of the last archive adds one.
//
//go:generate go run ./pack

//go:embed archive/*.zip
var archive embed.FS

// Archived returns the sets that were released, the last first. The names are "scaffold N".
func Archived() ([]Set, error) {
	entries, err := archive.ReadDir("archive")
	if err != nil {
		return nil, err
	}
	numbers := map[int]Set{}
	for _, entry := range entries {
		number, err := strconv.Atoi(strings.TrimSuffix(entry.Name(), ".zip"))
		if err != nil {
			return nil, err
		}
		data, err := archive.ReadFile(path.Join("archive", entry.Name()))
		if err != nil {
			return nil, err
		}
		files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		numbers[number] = FromFS(fmt.Sprintf("scaffold %d", number), files)
	}
	var sets []Set
	for _, number := range slices.Backward(slices.Sorted(maps.Keys(numbers))) {
		sets = append(sets, numbers[number])
	}
	return sets, nil
}

// Pack returns the templates of this command as an archive. The same templates make the same bytes.
func Pack() ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := w.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = file.Write(data)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
