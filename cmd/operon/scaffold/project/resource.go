package project

import (
	"encoding/json"
	"maps"
	"slices"
)

// A Resource is one version of one kind.
type Resource struct {
	// API is set where the project has the kind's types and CustomResourceDefinition.
	API *API `json:"api,omitempty"`
	// Controller says that the project reconciles the kind, with a controller that is named for it.
	Controller bool `json:"controller,omitempty"`
	// Controllers are the names of the kind's controllers where there are several, or one with another name.
	Controllers []Controller `json:"controllers,omitempty"`
	// Core marks a kind of Kubernetes itself.
	Core bool `json:"core,omitempty"`
	// Domain is what the group ends in. Empty for groups such as apps.
	Domain string `json:"domain,omitempty"`
	// External marks a kind whose types another module has.
	External bool `json:"external,omitempty"`
	// Group is the API group without its domain.
	Group string `json:"group,omitempty"`
	// Kind is as in Memcached.
	Kind string `json:"kind"`
	// Module is the Go module that has an external kind's types, with its version where one was asked for.
	Module string `json:"module,omitempty"`
	// Path is the import path of the types.
	Path string `json:"path,omitempty"`
	// Plural is the name of the resource where it is not the regular plural of the kind.
	Plural string `json:"plural,omitempty"`
	// Version is as in v1alpha1.
	Version string `json:"version"`
	// Webhooks are those of the kind.
	Webhooks *Webhooks `json:"webhooks,omitempty"`

	extra map[string]json.RawMessage
}

// API describes a CustomResourceDefinition.
type API struct {
	// CRDVersion is always v1.
	CRDVersion string `json:"crdVersion,omitempty"`
	// Namespaced says that objects are in namespaces.
	Namespaced bool `json:"namespaced,omitempty"`
}

// A Controller is one of several of a kind.
type Controller struct {
	// Name is as in memcached-backup.
	Name string `json:"name"`
}

// Webhooks says which a kind has.
type Webhooks struct {
	// Conversion says that this version is the hub that the others convert to and from.
	Conversion bool `json:"conversion,omitempty"`
	// Defaulting is a mutating admission webhook.
	Defaulting bool `json:"defaulting,omitempty"`
	// DefaultingPath is where it is served, if not where it is by default.
	DefaultingPath string `json:"defaultingPath,omitempty"`
	// Spoke are the versions that convert to and from the hub.
	Spoke []string `json:"spoke,omitempty"`
	// Validation is a validating admission webhook.
	Validation bool `json:"validation,omitempty"`
	// ValidationPath is where it is served, if not where it is by default.
	ValidationPath string `json:"validationPath,omitempty"`
	// WebhookVersion is always v1.
	WebhookVersion string `json:"webhookVersion,omitempty"`
}

// Empty reports whether there is no webhook. A nil receiver has none.
func (w *Webhooks) Empty() bool {
	return w == nil || !w.Conversion && !w.Defaulting && !w.Validation
}

// UnmarshalJSON keeps fields that the type does not have.
func (r *Resource) UnmarshalJSON(data []byte) error {
	type plain Resource
	return unmarshal(data, (*plain)(r), &r.extra)
}

// MarshalJSON adds the fields that UnmarshalJSON kept.
func (r *Resource) MarshalJSON() ([]byte, error) {
	type plain Resource
	return marshal((*plain)(r), r.extra)
}

// QualifiedGroup is the whole name of the API group, as it is in apiVersion.
func (r *Resource) QualifiedGroup() string {
	switch {
	case r.Core && r.Group == "core":
		return ""
	case r.Domain == "":
		return r.Group
	case r.Group == "":
		return r.Domain
	default:
		return r.Group + "." + r.Domain
	}
}

// ControllerNames are the names of the kind's controllers. Empty stands for the one that is named for the kind.
func (r *Resource) ControllerNames() []string {
	if len(r.Controllers) > 0 {
		names := make([]string, len(r.Controllers))
		for i, c := range r.Controllers {
			names[i] = c.Name
		}
		return names
	}
	if r.Controller {
		return []string{""}
	}
	return nil
}

// HasController reports whether there is a controller of that name. defaultName is what the one that is named for the kind
// would be called in a list of several.
func (r *Resource) HasController(name, defaultName string) bool {
	if name == defaultName {
		name = ""
	}
	for _, have := range r.ControllerNames() {
		if have == defaultName {
			have = ""
		}
		if have == name {
			return true
		}
	}
	return false
}

// AddController notes a controller. An empty name stands for the one that is named for the kind. As long as there is only that one it is
// noted as it always was, so that older tools can read it.
func (r *Resource) AddController(name, defaultName string) {
	if r.HasController(name, defaultName) {
		return
	}
	if len(r.Controllers) == 0 && !r.Controller && (name == "" || name == defaultName) {
		r.Controller = true
		return
	}
	if r.Controller && len(r.Controllers) == 0 {
		r.Controllers = []Controller{{Name: defaultName}}
	}
	r.Controller = false
	if name == "" {
		name = defaultName
	}
	r.Controllers = append(r.Controllers, Controller{Name: name})
}

func unmarshal(data []byte, known any, extra *map[string]json.RawMessage) error {
	if err := json.Unmarshal(data, known); err != nil {
		return err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool { return slices.Contains(knownFields, key) })
	*extra = all
	return nil
}

func marshal(known any, extra map[string]json.RawMessage) ([]byte, error) {
	data, err := json.Marshal(known)
	if err != nil || len(extra) == 0 {
		return data, err
	}
	all := maps.Clone(extra)
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// knownFields are those of Project and of Resource.
var knownFields = []string{
	"domain", "layout", "multigroup", "projectName", "repo", "resources", "version",
	"api", "controller", "controllers", "core", "external", "group", "kind", "module", "path", "plural", "webhooks",
}
