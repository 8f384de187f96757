package devloop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Go's own sentence on it comes after each saved file, and what would mend it is not in the project.
func TestTheLoopIsRefusedWhereAWorkspaceKeepsGoFromBuilding(t *testing.T) {
	operon := os.Getenv("OPERON")
	if operon == "" {
		t.Skip("OPERON does not name the operon binary: make test sets it")
	}
	root := newProject(t, managerSource("one"))
	other := t.TempDir()
	write(t, other, "go.mod", "module example.com/other\n\ngo 1.26\n")
	write(t, other, "go.work", "go 1.26\n\nuse .\n")
	workspace := filepath.Join(other, "go.work")
	t.Setenv("GOWORK", workspace)
	said := newTranscript()
	err := Run(t.Context(), Options{Root: root, Name: "p", Operon: operon, Package: "./cmd", WebhookPort: defaultWebhookPort, Stdout: said, Stderr: said})
	if err == nil || !strings.Contains(err.Error(), workspace) || !strings.Contains(err.Error(), "GOWORK=off") {
		t.Errorf("Run = %v, want an error with the workspace and the way out", err)
	}
	if _, err := os.Stat(filepath.Join(root, "bin", "run.kubeconfig")); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig of the loop's own plane is left: %v", err)
	}
}
