package rbac

import "github.com/operon-dev/operon/cmd/operon/generate/marker"

const ruleMarker = "kubebuilder:rbac"

// Rule is one permission, as a marker states it.
type Rule struct {
	// Groups are API groups; "" and "core" are the core group.
	Groups []string `marker:",optional"`
	// Resources are plural, lower-case resource names, or resource/subresource.
	Resources []string `marker:",optional"`
	// ResourceNames restrict the rule to the objects of these names.
	ResourceNames []string `marker:",optional"`
	// Verbs are API verbs, or * for all.
	Verbs []string
	// URLs are paths that are not resources, such as /metrics.
	URLs []string `marker:"urls,optional"`
	// Namespace puts the rule into a Role of that namespace. Empty means the ClusterRole.
	Namespace string `marker:",optional"`
	// RoleName is the role's name. Empty means the generator's.
	RoleName string `marker:",optional"`
}

// Markers are what the generator reads.
func (Generator) Markers() []marker.Definition {
	return []marker.Definition{marker.Define[Rule](ruleMarker, marker.OnPackage, marker.Help{
		Category: "RBAC",
		Summary:  "specifies an RBAC rule to allow access to some resources or non-resource URLs.",
		Details: `All rules of a run are merged into one ClusterRole, and one Role for each namespace that a rule names.

// Read and watch Deployments:
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch

// A subresource, and the core group:
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get

// One object only:
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=settings,verbs=get

// A path that is not a resource:
// +kubebuilder:rbac:urls=/metrics,verbs=get

// In one namespace, as a Role of its own name:
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get,namespace=users,roleName=user-secrets`,
		Fields: map[string]string{
			"Groups":        `the API groups of the resources, separated by semicolons; "" is the core group.`,
			"Resources":     "the resources, separated by semicolons; a subresource is written deployments/status.",
			"ResourceNames": "restricts the rule to objects of these names. Creating cannot be restricted so: the name is not known yet.",
			"Verbs":         "the verbs, lower case, separated by semicolons: get, list, watch, create, update, patch, delete, or * for all.",
			"URLs":          "paths that are not resources, such as /metrics and /healthz.",
			"Namespace":     "puts the rule into a Role in this namespace instead of the ClusterRole.",
			"RoleName":      "the name of the Role or ClusterRole, instead of the generator's roleName.",
		},
	})}
}
