package layout

import (
	"fmt"
	"go/token"
	"regexp"
	"strings"

	"golang.org/x/mod/module"
	"k8s.io/apimachinery/pkg/util/validation"
)

var (
	versionForm = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	kindForm    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

// CheckDomain says what is wrong with the domain of a project.
func CheckDomain(domain string) error {
	if len(validation.IsDNS1123Subdomain(domain)) > 0 {
		return fmt.Errorf("--domain %q is not a DNS name: use lower case letters, digits, dots and hyphens, as in example.com", domain)
	}
	return nil
}

// CheckProjectName says what is wrong with the name of a project.
func CheckProjectName(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("%q cannot be the project's name, which names its namespace: give one of lower case letters, digits and hyphens with --project-name", name)
	}
	return nil
}

// longestName is that of what a new project deploys, without the project's name: a Service, whose name is a label of DNS.
const longestName = "-controller-manager-metrics-service"

// CheckNewProjectName says whether a name is too long for what a new project deploys.
func CheckNewProjectName(name string) error {
	if most := validation.DNS1123LabelMaxLength - len(longestName); len(name) > most {
		return fmt.Errorf("%q is too long for the project's name, which the names of Services begin with: give one of %d characters at most with --project-name", name, most)
	}
	return nil
}

// CheckRepo says what is wrong with the path of a Go module.
func CheckRepo(repo string) error {
	if err := module.CheckImportPath(repo); err != nil {
		return fmt.Errorf("--repo %q is not the path of a Go module: use one such as github.com/you/memcached-operator", repo)
	}
	return nil
}

// CheckGroup says what is wrong with the name of a group.
func CheckGroup(group string) error {
	if group == "" {
		return fmt.Errorf("--group is missing: name the API group, as in --group cache")
	}
	if len(validation.IsDNS1123Subdomain(group)) > 0 {
		return fmt.Errorf("--group %q is not a DNS name: use lower case letters, digits, dots and hyphens, as in cache", group)
	}
	if name := strings.NewReplacer("-", "", ".", "").Replace(group); token.IsKeyword(name) || name[0] <= '9' {
		return fmt.Errorf("--group %q cannot be the name of a Go package: choose another", group)
	}
	return nil
}

// CheckGroupDirectory says why a group cannot have a directory of its own: Go means something else by some names.
func CheckGroupDirectory(group string) error {
	switch group {
	case "internal", "main", "testdata", "vendor":
		return fmt.Errorf("--group %q cannot have a directory of its own, since Go means something else by that name: choose another", group)
	}
	return nil
}

// CheckVersion says what is wrong with the name of a version.
func CheckVersion(version string) error {
	if version == "" {
		return fmt.Errorf("--version is missing: name the version of the API, as in --version v1alpha1")
	}
	if !versionForm.MatchString(version) {
		return fmt.Errorf("--version %q is not the version of an API: use one such as v1, v1beta1 or v1alpha1", version)
	}
	return nil
}

// CheckKind says what is wrong with the name of a kind.
func CheckKind(kind string) error {
	if kind == "" {
		return fmt.Errorf("--kind is missing: name the kind, as in --kind Memcached")
	}
	if !kindForm.MatchString(kind) || len(kind) > validation.DNS1035LabelMaxLength {
		return fmt.Errorf("--kind %q is not the name of a kind: begin with a capital letter and use letters and digits, as in Memcached", kind)
	}
	return nil
}

// CheckPlural says what is wrong with the name of a resource. None is right.
func CheckPlural(plural string) error {
	if plural != "" && len(validation.IsDNS1035Label(plural)) > 0 {
		return fmt.Errorf("--plural %q is not the name of a resource: use lower case letters, digits and hyphens, as in memcacheds", plural)
	}
	return nil
}

// CheckControllerName says what is wrong with the name of a controller. None is right.
func CheckControllerName(name string) error {
	if name != "" && len(validation.IsDNS1035Label(name)) > 0 {
		return fmt.Errorf("--controller-name %q is not a name for a controller: use lower case letters, digits and hyphens, as in memcached-backup", name)
	}
	return nil
}
