package scaffold

import (
	"testing"

	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

func TestThePackageOfAnotherProjectsKindIsGotRatherThanItsModule(t *testing.T) {
	const path = "example.com/other/api/v1"
	for module, want := range map[string]string{
		"example.com/other@v1.2.3":        "example.com/other/api/v1@v1.2.3",
		"example.com/other":               "example.com/other/api/v1",
		"example.com/other/api/v1@latest": "example.com/other/api/v1@latest",
		"example.com/otherwise@v1.2.3":    "example.com/otherwise@v1.2.3",
	} {
		if got := wanted(&project.Resource{Path: path, Module: module}); got != want {
			t.Errorf("for module %s: %s, want %s", module, got, want)
		}
	}
}
