package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	// FileName is the name of the file.
	FileName = "PROJECT"

	// Layout is the only layout that Operon writes into: the one of Kubebuilder v4.
	Layout = "go.kubebuilder.io/v4"

	// version is that of the format, not of the project.
	version = "3"

	head = `# What this project consists of. operon keeps this file; so can kubebuilder.
`
)

// ErrNotFound says that a directory is in no project.
var ErrNotFound = errors.New("there is no PROJECT file here or above: go to a project's directory, or make one with operon init")

// A Project is the content of a PROJECT file.
type Project struct {
	// Domain is what the groups of the project's own kinds end in.
	Domain string `json:"domain,omitempty"`
	// Layout names the plugins whose layout the project has, as "go.kubebuilder.io/v4".
	Layout []string `json:"layout,omitempty"`
	// MultiGroup gives every group directories of its own.
	MultiGroup bool `json:"multigroup,omitempty"`
	// ProjectName is the prefix of the names of everything that is deployed.
	ProjectName string `json:"projectName,omitempty"`
	// Repo is the path of the Go module.
	Repo string `json:"repo,omitempty"`
	// Resources are in the order in which they were created.
	Resources []*Resource `json:"resources,omitempty"`
	// Version is that of the format.
	Version string `json:"version,omitempty"`

	root  string
	head  string
	extra map[string]json.RawMessage
}

// New returns a project without resources, whose root is a directory. It is written by the caller, from Marshal.
func New(root string) *Project {
	return &Project{Layout: []string{Layout}, Version: version, root: root, head: head}
}

// Find reads the project that a directory is in: the PROJECT file there, or in the nearest directory above. It returns
// ErrNotFound where there is none.
func Find(dir string) (*Project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for {
		p, err := Load(dir)
		if !errors.Is(err, fs.ErrNotExist) {
			return p, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, ErrNotFound
		}
		dir = parent
	}
}

// Load reads the PROJECT file in a directory.
func Load(root string) (*Project, error) {
	path := filepath.Join(root, FileName)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p.root = root
	return p, nil
}

// Parse reads the content of a PROJECT file. Of the formats, version 3 is the only one that it takes, and of the layouts, those for Go.
func Parse(data []byte) (*Project, error) {
	p := &Project{}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if err := yaml.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("not a valid project file: %s: mend it, or take it back from version control", complaint(err))
	}
	if p.Version == "" {
		return nil, errors.New("not a valid project file: it does not give the version of its format: take it back from version control, or make a project with operon init")
	}
	if p.Version != version {
		return nil, fmt.Errorf("version %q of the format is not supported, only %q: kubebuilder's migration guide says how to get there", p.Version, version)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("not a valid project file: %w: mend it, or take it back from version control", err)
	}
	for _, line := range strings.SplitAfter(string(data), "\n") {
		if !strings.HasPrefix(line, "#") {
			break
		}
		p.head += line
	}
	return p, nil
}

// complaint is what is wrong with a file, without the way to it through two decoders.
func complaint(err error) string {
	var field *json.UnmarshalTypeError
	if errors.As(err, &field) {
		if field.Field == "" {
			return "it is " + inWords(field.Value) + ", and is to be a mapping"
		}
		return fmt.Sprintf("%s is %s there", field.Field, inWords(field.Value))
	}
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "error unmarshaling JSON: ", "while decoding JSON: ", "yaml: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// inWords is what YAML calls a kind of JSON's values.
func inWords(value string) string {
	switch value {
	case "array":
		return "a list"
	case "object":
		return "a mapping"
	case "bool":
		return "true or false"
	}
	return "a " + value
}

// check says what is wrong with the resources that somebody wrote by hand. Names of files and directories are made of them.
func (p *Project) check() error {
	type identity struct{ group, domain, version, kind string }
	seen := map[identity]bool{}
	for i, r := range p.Resources {
		if r == nil {
			return fmt.Errorf("resource %d of %d is empty", i+1, len(p.Resources))
		}
		for _, part := range []struct{ key, value string }{{"group", r.Group}, {"version", r.Version}, {"kind", r.Kind}} {
			if part.value == "" && part.key != "group" {
				return fmt.Errorf("resource %d of %d has no %s", i+1, len(p.Resources), part.key)
			}
			if strings.ContainsAny(part.value, "/\\ \t\n\"'`") || strings.HasPrefix(part.value, ".") {
				return fmt.Errorf("resource %d of %d has the %s %q, which can be none", i+1, len(p.Resources), part.key, part.value)
			}
		}
		id := identity{r.Group, r.Domain, r.Version, r.Kind}
		if seen[id] {
			return fmt.Errorf("%s/%s %s is there twice", r.QualifiedGroup(), r.Version, r.Kind)
		}
		seen[id] = true
	}
	return nil
}

// Root is the directory that the project was read from, or is made for.
func (p *Project) Root() string { return p.root }

// CLIVersion is the version of kubebuilder that made the project, or "" where another program did.
func (p *Project) CLIVersion() string {
	var version string
	if json.Unmarshal(p.extra["cliVersion"], &version) != nil {
		return ""
	}
	return version
}

// Marshal returns the content of the PROJECT file.
func (p *Project) Marshal() ([]byte, error) {
	data, err := yaml.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FileName, err)
	}
	return append([]byte(p.head), data...), nil
}

// UnmarshalJSON keeps fields that the type does not have.
func (p *Project) UnmarshalJSON(data []byte) error {
	var one struct {
		Layout string `json:"layout"`
	}
	if json.Unmarshal(data, &one) == nil && one.Layout != "" { // as the first projects of this format have it
		fields := map[string]json.RawMessage{}
		if err := json.Unmarshal(data, &fields); err != nil {
			return err
		}
		fields["layout"] = json.RawMessage("[" + string(fields["layout"]) + "]")
		listed, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		data = listed
	}
	type plain Project
	return unmarshal(data, (*plain)(p), &p.extra)
}

// MarshalJSON adds the fields that UnmarshalJSON kept.
func (p *Project) MarshalJSON() ([]byte, error) {
	type plain Project
	return marshal((*plain)(p), p.extra)
}

// Resource returns the resource of a group, version and kind, or nil. The group is without its domain.
func (p *Project) Resource(group, version, kind string) *Resource {
	for _, r := range p.Resources {
		if r.Group == group && r.Version == version && r.Kind == kind {
			return r
		}
	}
	return nil
}

// Versions returns the resources of one kind of a group, one for each version.
func (p *Project) Versions(group, kind string) []*Resource {
	var versions []*Resource
	for _, r := range p.Resources {
		if r.Group == group && r.Kind == kind {
			versions = append(versions, r)
		}
	}
	return versions
}

// Add adds a resource.
func (p *Project) Add(r *Resource) { p.Resources = append(p.Resources, r) }

// Remove takes a resource out.
func (p *Project) Remove(r *Resource) {
	for i := range p.Resources {
		if p.Resources[i] == r {
			p.Resources = append(p.Resources[:i:i], p.Resources[i+1:]...)
			return
		}
	}
}

// HasWebhooks reports whether any resource has webhooks.
func (p *Project) HasWebhooks() bool {
	for _, r := range p.Resources {
		if !r.Webhooks.Empty() {
			return true
		}
	}
	return false
}
