package scaffold

import (
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/review"
)

func newProject(t *testing.T) *project.Project {
	t.Helper()
	if _, err := origin.Find(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	set, _, err := initProject(dir, initOptions{domain: "example.com", repo: "example.com/p", projectName: "p", license: "none"})
	if err == nil {
		err = set.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := project.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOnATerminalCreateAPIAsksForWhatNoFlagSays(t *testing.T) {
	for _, tt := range []struct {
		name      string
		answers   string
		opts      apiOptions
		questions string
		want      []string
		err       string
	}{
		{"both", "y\ny\n", apiOptions{}, "Create Resource [y/n]\nCreate Controller [y/n]\n", []string{"api/v1/redis_types.go", "internal/controller/redis_controller.go"}, ""},
		{"words, and other words", "perhaps\nYES\nNo\n", apiOptions{}, "Create Resource [y/n]\nCreate Resource [y/n]\nCreate Controller [y/n]\n", []string{"api/v1/redis_types.go"}, ""},
		{"a flag", "n\n", apiOptions{resource: choice{true, true}}, "Create Controller [y/n]\n", []string{"api/v1/redis_types.go"}, ""},
		{"neither", "n\nn\n", apiOptions{}, "Create Resource [y/n]\nCreate Controller [y/n]\n", nil, "there is nothing to create"},
		{"no answer", "", apiOptions{}, "Create Resource [y/n]\n", nil, "no answer: give one with a flag"},
		{"nothing of an image", "", apiOptions{image: image{Name: "redis:8"}}, "", []string{"api/v1/redis_types.go", "internal/controller/redis_controller.go"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.gvk, tt.opts.namespaced = gvk{"cache", "v1", "Redis"}, true
			var asked strings.Builder
			set, _, err := createAPI(newProject(t), tt.opts, review.NewAsker(strings.NewReader(tt.answers), &asked))
			if asked.String() != tt.questions {
				t.Errorf("asked %q, want %q", asked.String(), tt.questions)
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v does not say %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var made []string
			for _, c := range set.Changes() {
				if c.Op == fileset.Created && strings.HasSuffix(c.Path, ".go") && !strings.HasSuffix(c.Path, "_test.go") && !strings.HasSuffix(c.Path, "_info.go") {
					made = append(made, c.Path)
				}
			}
			if !slices.Equal(made, tt.want) {
				t.Errorf("made %q, want %q", made, tt.want)
			}
		})
	}
}
