// Command pack keeps the current templates as the next archive, for a release. Run it by go generate in the package of templates; it does
// nothing where the last archive has the same ones.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
)

func main() {
	if err := run("archive"); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	data, err := templates.Pack()
	if err != nil {
		return err
	}
	for number := 1; ; number++ {
		path := filepath.Join(dir, fmt.Sprintf("%d.zip", number))
		have, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return os.WriteFile(path, data, 0o644)
		}
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("%d.zip", number+1))); os.IsNotExist(err) && bytes.Equal(have, data) {
			return nil
		}
	}
}
