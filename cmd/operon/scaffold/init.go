package scaffold

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
	"github.com/operon-dev/operon/cmd/operon/scaffold/layout"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
)

// initOptions are what "operon init" takes.
type initOptions struct {
	domain, repo, projectName string
	owner, license            string
	operonSource              string
	force                     bool
	// templates are what the files are made from.
	templates templates.Set
	// from is the library's origin, where operonSource is not to say.
	from *origin.Origin
	// header is the head of Go files, where owner and license are not to say.
	header string
}

// initData is what the templates of a new project are filled in with.
type initData struct {
	ProjectName, Repo, Runtime, Library string
	LeaderElectionID                    string
	Header, Boilerplate                 string
	License, Owner                      string
	Year                                int
	Go                                  string
	Replace                             bool
	templates                           templates.Set
}

func (d initData) from() templates.Set { return d.templates }

// initFiles are the files of a new project, by template.
var initFiles = []struct{ template, path string }{
	{"dockerignore", ".dockerignore"},
	{"gitignore", ".gitignore"},
	{"Dockerfile", "Dockerfile"},
	{"Makefile", "Makefile"},
	{"README.md", "README.md"},
	{"main.go", layout.Main},
	{"config/default/kustomization.yaml", layout.DefaultKustomization},
	{"config/default/metrics_service.yaml", "config/default/metrics_service.yaml"},
	{"config/manager/kustomization.yaml", "config/manager/kustomization.yaml"},
	{"config/manager/manager.yaml", "config/manager/manager.yaml"},
	{"config/network-policy/kustomization.yaml", layout.NetworkKustomization},
	{"config/network-policy/allow-metrics-traffic.yaml", "config/network-policy/allow-metrics-traffic.yaml"},
	{"config/prometheus/kustomization.yaml", "config/prometheus/kustomization.yaml"},
	{"config/prometheus/monitor.yaml", "config/prometheus/monitor.yaml"},
	{"config/rbac/kustomization.yaml", layout.RBACKustomization},
	{"config/rbac/leader_election_role.yaml", "config/rbac/leader_election_role.yaml"},
	{"config/rbac/metrics_auth_role.yaml", "config/rbac/metrics_auth_role.yaml"},
	{"config/rbac/role.yaml", layout.ManagerRole},
	{"config/rbac/role_binding.yaml", "config/rbac/role_binding.yaml"},
	{"config/rbac/service_account.yaml", "config/rbac/service_account.yaml"},
}

// keptFiles are those that a repository often has before there is a project in it. They stay as they are.
var keptFiles = []string{".gitignore", ".dockerignore", "README.md"}

// initProject plans a new project in a directory.
func initProject(dir string, opts initOptions) (*fileset.Set, *project.Project, error) {
	set := fileset.New(dir, opts.force)
	if set.Exists(project.FileName) && !opts.force {
		return nil, nil, errors.New("there is a project here already (PROJECT): add to it with operon create api, or write it anew with --force")
	}
	mod, err := readIfThere(set, "go.mod")
	if err != nil {
		return nil, nil, err
	}
	sum, err := readIfThere(set, "go.sum")
	if err != nil {
		return nil, nil, err
	}
	p := project.New(dir)
	p.Domain = opts.domain
	if p.Repo, err = repoOf(dir, opts.repo, mod); err != nil {
		return nil, nil, err
	}
	p.ProjectName = opts.projectName
	if p.ProjectName == "" {
		p.ProjectName = strings.ToLower(filepath.Base(dir))
	}
	if err := firstError(layout.CheckDomain(p.Domain), layout.CheckProjectName(p.ProjectName), layout.CheckRepo(p.Repo)); err != nil {
		return nil, nil, err
	}
	if !slices.Contains([]string{"apache2", "copyright", "none"}, opts.license) {
		return nil, nil, fmt.Errorf("--license %q is not known: take apache2, copyright (a line with year and owner) or none", opts.license)
	}
	from := origin.Origin{}
	if opts.from != nil {
		from = *opts.from
	} else if from, err = originOf(opts.operonSource); err != nil {
		return nil, nil, err
	}

	data := initData{
		ProjectName: p.ProjectName, Repo: p.Repo, Runtime: origin.Library, Library: origin.Library,
		LeaderElectionID: leaderElectionID(p), License: opts.license, Owner: opts.owner, Year: time.Now().Year(),
		Go: "1.26", Replace: from.Dir != "", templates: opts.templates,
	}
	if err := planHeader(set, opts, &data); err != nil {
		return nil, nil, err
	}
	for _, file := range initFiles {
		if slices.Contains(keptFiles, file.path) && set.Exists(file.path) {
			continue
		}
		if err := create(set, file.path, "init/"+file.template, data); err != nil {
			return nil, nil, err
		}
	}
	newMod, newSum, err := gomodule.Require(mod, sum, p.Repo, from)
	if err != nil {
		return nil, nil, err
	}
	if err := firstError(replace(set, "go.mod", newMod), replace(set, "go.sum", newSum), saveProject(set, p)); err != nil {
		return nil, nil, err
	}
	return set, p, nil
}

// planHeader plans the boilerplate, if there is to be one, and has the templates begin Go files with it.
func planHeader(set *fileset.Set, opts initOptions, data *initData) error {
	boilerplate := opts.header
	switch {
	case opts.header != "":
		data.Header = strings.TrimSpace(strings.ReplaceAll(opts.header, "YEAR", fmt.Sprint(data.Year))) + "\n\n"
	case opts.license != "none":
		var err error
		if boilerplate, err = opts.templates.Render("init/boilerplate.go.txt", *data); err != nil {
			return err
		}
		data.Header = boilerplate + "\n"
	default:
		return nil
	}
	data.Boilerplate = layout.Boilerplate
	return set.Create(layout.Boilerplate, boilerplate)
}

func originOf(source string) (origin.Origin, error) {
	if source != "" {
		return origin.At(source)
	}
	return origin.Find()
}

// repoOf is the path of the project's module: what was asked for, the module that is there, or the place below GOPATH.
func repoOf(dir, asked, mod string) (string, error) {
	there := gomodule.Path(mod)
	switch {
	case asked != "" && there != "" && asked != there:
		return "", fmt.Errorf("--repo %s is not the module that go.mod describes, %s: leave --repo out, or change go.mod", asked, there)
	case asked != "":
		return asked, nil
	case there != "":
		return there, nil
	}
	for _, root := range filepath.SplitList(build.Default.GOPATH) {
		if rel, err := filepath.Rel(filepath.Join(root, "src"), dir); err == nil && filepath.IsLocal(rel) && rel != "." {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", errors.New("the path of the Go module is not known: give it, as in --repo github.com/you/memcached-operator")
}

// leaderElectionID is the name of the lease, short and unlike that of any other operator.
func leaderElectionID(p *project.Project) string {
	sum := sha256.Sum256([]byte(p.Repo))
	return hex.EncodeToString(sum[:4]) + "." + p.Domain
}

// saveProject plans the PROJECT file.
func saveProject(set *fileset.Set, p *project.Project) error {
	data, err := p.Marshal()
	if err != nil {
		return err
	}
	return replace(set, project.FileName, string(data))
}

// replace plans a file that may be there.
func replace(set *fileset.Set, path, content string) error {
	if !set.Exists(path) {
		return set.Create(path, content)
	}
	return set.Edit(path, func(string) (string, error) { return content, nil })
}

// A filling is what a template is filled in with. It knows the set of templates.
type filling interface{ from() templates.Set }

// create plans a new file from a template. A template that an earlier set does not have makes no file.
func create(set *fileset.Set, path, template string, data filling) error {
	content, err := data.from().Render(template, data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return set.Create(path, content)
}

// firstError is the first of some errors that is one: a sentence is enough to go on.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func readIfThere(set *fileset.Set, path string) (string, error) {
	content, err := set.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return content, err
}

func workingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
