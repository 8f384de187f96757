package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/operon-dev/operon/cmd/operon/kubeversion"
)

func TestVersionForPeopleAndForScripts(t *testing.T) {
	text, err := exec.Command(binary, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := exec.Command(binary, "version", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var versions struct{ Operon, Kubernetes, Go string }
	if err := json.Unmarshal(encoded, &versions); err != nil {
		t.Fatalf("%s: %v", encoded, err)
	}
	if versions.Kubernetes != kubeversion.Version || !strings.HasPrefix(versions.Go, "go1.") {
		t.Errorf("versions %+v", versions)
	}
	if want := "operon " + versions.Operon + "\nkubernetes " + versions.Kubernetes + "\n"; string(text) != want {
		t.Errorf("text %q, want %q", text, want)
	}
}
