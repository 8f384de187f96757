package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
)

// A gvk is the group, version and kind that a verb is about, as the flags have them.
type gvk struct {
	group, version, kind string
}

func (g gvk) check() error {
	return firstError(layout.CheckGroup(g.group), layout.CheckVersion(g.version), layout.CheckKind(g.kind))
}

func (g gvk) String() string { return g.group + "/" + g.version + " " + g.kind }

// externalAPI is where the types of a kind are that is neither the project's nor Kubernetes' own.
type externalAPI struct {
	path, domain, module string
}

func (e externalAPI) check() error {
	if e.path == "" && (e.domain != "" || e.module != "") {
		return errors.New("--external-api-domain and --external-api-module need --external-api-path: give that too")
	}
	if e.path != "" {
		return layout.CheckRepo(e.path)
	}
	return nil
}

// A subject is one resource of a project that is being worked on, with what templates need to know of it.
type subject struct {
	layout.Names
	gomodule.Runtime
	project *project.Project
	// Header is at the top of Go files.
	Header string
	// templates are what its files are made from.
	templates templates.Set
}

func (s *subject) from() templates.Set { return s.templates }

// subjectOf returns the subject of a resource. It reads go.mod and the boilerplate.
func subjectOf(set *fileset.Set, p *project.Project, r *project.Resource) (*subject, error) {
	mod, err := set.Read("go.mod")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the project has no go.mod: put it back first, it says which library the code is to be written for")
	}
	if err != nil {
		return nil, err
	}
	runtime, err := gomodule.RuntimeOf(mod)
	if err != nil {
		return nil, err
	}
	header, err := readIfThere(set, layout.Boilerplate)
	if err != nil {
		return nil, err
	}
	if header != "" {
		header = strings.TrimSpace(strings.ReplaceAll(header, "YEAR", fmt.Sprint(time.Now().Year()))) + "\n\n"
	}
	return &subject{Names: layout.Of(p, r), Runtime: runtime, project: p, Header: header}, nil
}

// findProject reads the project that the current directory is in, if it is laid out as this package writes.
func findProject() (*project.Project, error) {
	p, err := project.Find(".")
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(p.Layout, func(plugin string) bool { return strings.HasSuffix(plugin, project.Layout) }) {
		return nil, fmt.Errorf("the project is laid out as %s, and only %s is supported: migrate it as Kubebuilder's book says", strings.Join(p.Layout, ","), project.Layout)
	}
	return p, nil
}

// resolve finds the resource that flags mean, or makes one that is not yet in the project. own says that the project is to have the types.
func resolve(p *project.Project, g gvk, external externalAPI, own bool) (r *project.Resource, known bool) {
	if r := p.Resource(g.group, g.version, g.kind); r != nil {
		return r, true
	}
	r = &project.Resource{Group: g.group, Version: g.version, Kind: g.kind}
	if external.path != "" {
		r.External, r.Path, r.Domain, r.Module = true, external.path, external.domain, external.module
		return r, false
	}
	if domain, core := layout.CoreDomain(g.group, g.version, g.kind); core && !own {
		r.Core, r.Domain, r.Path = true, domain, layout.CorePath(g.group, g.version)
		return r, false
	}
	r.Domain = p.Domain
	r.Path = p.Repo + "/" + layout.Of(p, r).APIDir()
	return r, false
}

// checkGroups says whether a group may have types in a project.
func checkGroups(p *project.Project, group string) error {
	if p.MultiGroup {
		return layout.CheckGroupDirectory(group)
	}
	for _, r := range p.Resources {
		if r.API != nil && r.Group != group {
			return fmt.Errorf("the project's kinds are of the group %s, and directories for more than one have to be turned on first: operon edit --multigroup", r.Group)
		}
	}
	return nil
}

// mainFile is the file that starts the manager.
func mainFile(set *fileset.Set) (string, error) {
	for _, file := range []string{layout.Main, "main.go"} {
		if set.Exists(file) {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: %w: the controllers and webhooks are set up there", layout.Main, fs.ErrNotExist)
}

// ProjectName is the prefix of what is deployed.
func (s *subject) ProjectName() string { return s.project.ProjectName }

// Namespaced reports whether objects of the kind are in namespaces.
func (s *subject) Namespaced() bool { return s.API == nil || s.API.Namespaced }

// Var is the kind as the beginning of a Go identifier that is not exported.
func (s *subject) Var() string { return strings.ToLower(s.Kind[:1]) + s.Kind[1:] }

// SampleName is the name of the sample. That of a later version of a kind has the version in it: with one name, the samples of two versions would be
// one object.
func (s *subject) SampleName() string {
	for _, r := range s.project.Resources {
		if r.API != nil && r.Group == s.Group && r.Kind == s.Kind {
			if r.Version != s.Version {
				return s.laterSampleName()
			}
			break
		}
	}
	return s.firstSampleName()
}

func (s *subject) firstSampleName() string { return s.Lower() + "-sample" }

func (s *subject) laterSampleName() string { return s.Lower() + "-" + s.Version + "-sample" }

// ResourceMarker is the marker for what the regular form of a CRD is not, or "".
func (s *subject) ResourceMarker() string {
	var args []string
	if s.Plural != "" && s.Plural != layout.RegularPlural(s.Kind) {
		args = append(args, "path="+s.Plural)
	}
	if !s.Namespaced() {
		args = append(args, "scope=Cluster")
	}
	if len(args) == 0 {
		return ""
	}
	return "+kubebuilder:resource:" + strings.Join(args, ",")
}

// People are the roles for people.
func (s *subject) People() []struct{ Role, Verbs string } {
	return []struct{ Role, Verbs string }{
		{"admin", `"*"`},
		{"editor", "get, list, watch, create, update, patch, delete"},
		{"viewer", "get, list, watch"},
	}
}

// up is the way from a directory back to the root, as the arguments of filepath.Join.
func up(dir string) string {
	n := strings.Count(path.Clean(dir), "/") + 1
	return strings.TrimSuffix(strings.Repeat(`"..", `, n), ", ")
}
