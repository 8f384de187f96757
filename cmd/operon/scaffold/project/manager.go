package project

import (
	"fmt"
	"os"
	"path/filepath"
)

// ManagerPackage returns the package of the project's manager, relative to its root: ./cmd in the layout of today, the root in that
// of old.
func (p *Project) ManagerPackage() (string, error) {
	for _, dir := range []string{"cmd", "."} {
		if _, err := os.Stat(filepath.Join(p.root, dir, "main.go")); err == nil {
			return "./" + dir, nil
		}
	}
	return "", fmt.Errorf("%s: neither cmd/main.go nor main.go is there, so there is no manager to build", p.root)
}
