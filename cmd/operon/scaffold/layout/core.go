package layout

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// coreDomains are the groups of k8s.io/api, and what their names end in.
var coreDomains = map[string]string{
	"admission":             "k8s.io",
	"admissionregistration": "k8s.io",
	"apps":                  "",
	"authentication":        "k8s.io",
	"authorization":         "k8s.io",
	"autoscaling":           "",
	"batch":                 "",
	"certificates":          "k8s.io",
	"coordination":          "k8s.io",
	"core":                  "",
	"discovery":             "k8s.io",
	"events":                "k8s.io",
	"extensions":            "",
	"flowcontrol":           "apiserver.k8s.io",
	"imagepolicy":           "k8s.io",
	"networking":            "k8s.io",
	"node":                  "k8s.io",
	"policy":                "",
	"rbac":                  "authorization.k8s.io",
	"resource":              "k8s.io",
	"scheduling":            "k8s.io",
	"storage":               "k8s.io",
	"storagemigration":      "k8s.io",
}

// CoreDomain reports whether a kind is one of Kubernetes' own, and what the name of its group ends in.
func CoreDomain(group, version, kind string) (domain string, ok bool) {
	domain, ok = coreDomains[group]
	qualified := group
	switch {
	case group == "core":
		qualified = ""
	case domain != "":
		qualified += "." + domain
	}
	return domain, ok && scheme.Scheme.Recognizes(schema.GroupVersionKind{Group: qualified, Version: version, Kind: kind})
}

// CorePath is the import path of the types of one of Kubernetes' own groups.
func CorePath(group, version string) string { return "k8s.io/api/" + group + "/" + version }
