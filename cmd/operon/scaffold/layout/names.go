package layout

import (
	"path"
	"strings"

	"github.com/gobuffalo/flect"

	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// Files that a project has once.
const (
	Main                     = "cmd/main.go"
	Boilerplate              = "hack/boilerplate.go.txt"
	CRDKustomization         = "config/crd/kustomization.yaml"
	RBACKustomization        = "config/rbac/kustomization.yaml"
	SampleKustomization      = "config/samples/kustomization.yaml"
	DefaultKustomization     = "config/default/kustomization.yaml"
	NetworkKustomization     = "config/network-policy/kustomization.yaml"
	WebhookKustomization     = "config/webhook/kustomization.yaml"
	WebhookManifests         = "config/webhook/manifests.yaml"
	CertManagerKustomization = "config/certmanager/kustomization.yaml"
	ManagerWebhook           = "config/default/manager_webhook_patch.yaml"
	AllowWebhook             = "config/network-policy/allow-webhook-traffic.yaml"
	ManagerRole              = "config/rbac/role.yaml" // what make manifests makes of the markers of controllers
	CertificatesRole         = "config/rbac/webhook_certificates_role.yaml"
	CRDKustomizeConfig       = "config/crd/kustomizeconfig.yaml"
)

// Names says how files, packages and objects are called that belong to one resource of a project.
type Names struct {
	*project.Resource
	project *project.Project
}

// Of returns the names of a resource.
func Of(p *project.Project, r *project.Resource) Names { return Names{Resource: r, project: p} }

// Lower is the kind as it is in the names of files.
func (n Names) Lower() string { return strings.ToLower(n.Kind) }

// PluralName is the name of the resource, as in memcacheds.
func (n Names) PluralName() string {
	if n.Plural != "" {
		return n.Plural
	}
	return RegularPlural(n.Kind)
}

// RegularPlural is the plural that controller-gen makes of a kind.
func RegularPlural(kind string) string { return flect.Pluralize(strings.ToLower(kind)) }

// GroupPackage is the group as the name of a Go package, and at the head of aliases.
func (n Names) GroupPackage() string {
	group := n.Group
	if group == "" {
		group = firstLabel(n.Domain)
	}
	return strings.ToLower(strings.NewReplacer("-", "", ".", "").Replace(group))
}

// groupDir is the directory of a group where groups have one, with a slash. A kind stays in the layout that its types are in, whatever the project's
// setting has become since.
func (n Names) groupDir() string {
	multi := n.project.MultiGroup
	if dir, ok := strings.CutPrefix(n.Path, n.project.Repo+"/"); ok && n.Own() {
		multi = strings.HasSuffix(dir, "/"+n.Group+"/"+n.Version)
	}
	if !multi || n.Group == "" {
		return ""
	}
	return n.Group + "/"
}

// InOtherLayout are the names that the resource would have if the project's setting of directories for groups were the other one.
func (n Names) InOtherLayout() Names {
	other := *n.project
	other.MultiGroup = !other.MultiGroup
	return Of(&other, n.Resource)
}

// Own reports whether the types are the project's.
func (n Names) Own() bool { return !n.Core && !n.External }

// APIDir is the directory of the types. It is not the project's where the types are not.
func (n Names) APIDir() string {
	if dir, ok := strings.CutPrefix(n.Path, n.project.Repo+"/"); ok {
		return dir
	}
	return "api/" + n.groupDir() + n.Version
}

// APIPath is the import path of the types.
func (n Names) APIPath() string {
	if n.Path != "" {
		return n.Path
	}
	return n.project.Repo + "/" + n.APIDir()
}

// APIAlias is the name under which the types are imported. It is not one that code gives to Kubernetes' own types.
func (n Names) APIAlias() string {
	switch alias := n.GroupPackage() + n.Version; alias {
	case "appsv1", "corev1", "metav1":
		if n.Own() {
			return n.GroupPackage() + "api" + n.Version
		}
		return alias
	default:
		return alias
	}
}

// Types is the file of the types.
func (n Names) Types() string { return path.Join(n.APIDir(), n.Lower()+"_types.go") }

// GroupVersionInfo is the file that registers the types.
func (n Names) GroupVersionInfo() string { return path.Join(n.APIDir(), "groupversion_info.go") }

// DeepCopy is the generated file.
func (n Names) DeepCopy() string { return path.Join(n.APIDir(), "zz_generated.deepcopy.go") }

// ConversionFile is the file of the conversion between versions.
func (n Names) ConversionFile() string { return path.Join(n.APIDir(), n.Lower()+"_conversion.go") }

// ControllerDir is the directory of the controllers.
func (n Names) ControllerDir() string {
	return strings.TrimSuffix("internal/controller/"+n.groupDir(), "/")
}

// ControllerPath is the import path of the controllers.
func (n Names) ControllerPath() string { return n.project.Repo + "/" + n.ControllerDir() }

// ControllerPackage is the name of their package.
func (n Names) ControllerPackage() string {
	if n.groupDir() != "" {
		return n.GroupPackage()
	}
	return "controller"
}

// ControllerAlias is the name under which they are imported.
func (n Names) ControllerAlias() string {
	if n.groupDir() != "" {
		return n.GroupPackage() + "controller"
	}
	return "controller"
}

// DefaultController is the name of the controller that is named for the kind.
func (n Names) DefaultController() string { return n.Lower() }

// ControllerName is the name of a controller among all of the manager, for its metrics and log lines. Empty stands for the one that is named for the kind.
func (n Names) ControllerName(controller string) string {
	if controller == "" {
		controller = n.DefaultController()
	}
	if n.groupDir() != "" {
		return n.GroupPackage() + "-" + controller
	}
	return controller
}

// Reconciler is the Go type of a controller.
func (n Names) Reconciler(controller string) string {
	if controller == "" || controller == n.DefaultController() {
		return n.Kind + "Reconciler"
	}
	return flect.Pascalize(strings.ReplaceAll(controller, "-", "_")) + "Reconciler"
}

// ControllerFile is the file of a controller.
func (n Names) ControllerFile(controller string) string {
	return n.controllerFile(controller, "_controller.go")
}

// ControllerTest is the file of its test.
func (n Names) ControllerTest(controller string) string {
	return n.controllerFile(controller, "_controller_test.go")
}

func (n Names) controllerFile(controller, suffix string) string {
	if controller == "" {
		controller = n.DefaultController()
	}
	return path.Join(n.ControllerDir(), strings.ReplaceAll(controller, "-", "_")+suffix)
}

// ControllerSuite is the file that starts the control plane for the controllers' tests.
func (n Names) ControllerSuite() string { return path.Join(n.ControllerDir(), "suite_test.go") }

// WebhookDir is the directory of the admission webhooks.
func (n Names) WebhookDir() string { return "internal/webhook/" + n.groupDir() + n.Version }

// WebhookPath is their import path.
func (n Names) WebhookPath() string { return n.project.Repo + "/" + n.WebhookDir() }

// WebhookAlias is the name under which they are imported.
func (n Names) WebhookAlias() string {
	if n.groupDir() != "" {
		return "webhook" + n.GroupPackage() + n.Version
	}
	return "webhook" + n.Version
}

// WebhookFile is the file of the webhooks.
func (n Names) WebhookFile() string { return path.Join(n.WebhookDir(), n.Lower()+"_webhook.go") }

// WebhookTest is the file of their test.
func (n Names) WebhookTest() string { return path.Join(n.WebhookDir(), n.Lower()+"_webhook_test.go") }

// WebhookSuite is the file that starts the control plane for their tests.
func (n Names) WebhookSuite() string { return path.Join(n.WebhookDir(), "webhook_suite_test.go") }

// AdmissionPath is where an admission webhook is served by default; what is mutate or validate.
func (n Names) AdmissionPath(what string) string {
	return "/" + what + "-" + strings.ReplaceAll(n.QualifiedGroup(), ".", "-") + "-" + n.Version + "-" + n.Lower()
}

// MarkerGroup is the group as it is in markers, where the core group has quotes for a name.
func (n Names) MarkerGroup() string {
	if group := n.QualifiedGroup(); group != "" {
		return group
	}
	return `""`
}

// CRD is the name of the CustomResourceDefinition.
func (n Names) CRD() string { return n.PluralName() + "." + n.QualifiedGroup() }

// CRDBase is the file of the CustomResourceDefinition, relative to config/crd.
func (n Names) CRDBase() string {
	return "bases/" + n.QualifiedGroup() + "_" + n.PluralName() + ".yaml"
}

// CRDFile is the same file, relative to the project.
func (n Names) CRDFile() string { return "config/crd/" + n.CRDBase() }

// CRDPatch is the patch that turns on conversion, relative to config/crd.
func (n Names) CRDPatch() string {
	if n.groupDir() != "" {
		return "patches/webhook_in_" + n.Group + "_" + n.PluralName() + ".yaml"
	}
	return "patches/webhook_in_" + n.PluralName() + ".yaml"
}

// CRDPatchFile is the same file, relative to the project.
func (n Names) CRDPatchFile() string { return "config/crd/" + n.CRDPatch() }

// Sample is the name of the sample's file, in config/samples.
func (n Names) Sample() string {
	group := n.Group
	if group == "" {
		group = firstLabel(n.Domain)
	}
	return group + "_" + n.Version + "_" + n.Lower() + ".yaml"
}

// SampleFile is the same file, relative to the project.
func (n Names) SampleFile() string { return "config/samples/" + n.Sample() }

// RolePrefix is at the head of the names of the roles for people.
func (n Names) RolePrefix() string {
	if n.groupDir() != "" {
		return n.GroupPackage() + "-" + n.Lower()
	}
	return n.Lower()
}

// Roles is the name of the file of the roles for people, in config/rbac.
func (n Names) Roles() string { return strings.ReplaceAll(n.RolePrefix(), "-", "_") + "_roles.yaml" }

// RolesFile is the same file, relative to the project.
func (n Names) RolesFile() string { return "config/rbac/" + n.Roles() }

func firstLabel(domain string) string {
	label, _, _ := strings.Cut(domain, ".")
	return label
}
