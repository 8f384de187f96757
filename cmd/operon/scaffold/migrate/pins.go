package migrate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
)

// heldBack compares the project's go.mod with the one that is planned.
func (p *Plan) heldBack() ([]string, error) {
	if p.strays {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(p.Set.Root(), "go.mod"))
	if err != nil {
		return nil, err
	}
	text, err := p.Set.Read("go.mod")
	if err != nil {
		return nil, err
	}
	before, err := gomodule.Parse(string(data))
	if err != nil {
		return nil, err
	}
	after, err := gomodule.Parse(text)
	if err != nil {
		return nil, err
	}
	return heldBack(before, after), nil
}

// heldBack says which modules stay at older versions than a go.mod requires since it was moved, in sentences with the way out. They are what a
// result that does not compile most likely comes from.
func heldBack(before, mod *modfile.File) []string {
	required, raised := versions(mod), map[string]bool{}
	was := versions(before)
	for path, version := range required {
		raised[path] = semver.Compare(version, was[path]) > 0
	}
	var replaced, drops, left, gets []string
	for _, r := range mod.Replace {
		need := required[r.Old.Path]
		if !raised[r.Old.Path] || r.New.Path != r.Old.Path || r.Old.Version != "" && r.Old.Version != need || semver.Compare(r.New.Version, need) >= 0 {
			continue
		}
		replaced = append(replaced, fmt.Sprintf("%s %s by %s", r.Old.Path, need, r.New.Version))
		drops = append(drops, "-dropreplace="+r.Old.String())
	}
	// Kubernetes publishes most of its modules together, and does not promise that they fit others. Those that were in step with client-go should be
	// so again.
	const client = "k8s.io/client-go"
	for _, r := range mod.Require {
		inStep := strings.HasPrefix(r.Mod.Path, "k8s.io/") && semver.MajorMinor(was[r.Mod.Path]) == semver.MajorMinor(was[client])
		if raised[client] && was[client] != "" && !r.Indirect && inStep && semver.Compare(r.Mod.Version, required[client]) < 0 {
			left = append(left, r.Mod.Path+" "+r.Mod.Version)
			gets = append(gets, r.Mod.Path+"@"+required[client])
		}
	}
	var sentences []string
	if len(replaced) > 0 {
		sentences = append(sentences, fmt.Sprintf("go.mod still replaces %s: go mod edit %s", strings.Join(replaced, ", "), strings.Join(drops, " ")))
	}
	if len(left) > 0 {
		sentences = append(sentences, fmt.Sprintf("go.mod leaves %s behind client-go %s: go get %s", strings.Join(left, ", "), required[client], strings.Join(gets, " ")))
	}
	return sentences
}

// versions are the versions that a go.mod requires, by module.
func versions(mod *modfile.File) map[string]string {
	all := map[string]string{}
	for _, r := range mod.Require {
		all[r.Mod.Path] = r.Mod.Version
	}
	return all
}
