package rbac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// knownVerbs are the verbs of the API, those that only authorization knows, and those of HTTP for paths. Others may exist:
// an API server extension may ask for any.
var knownVerbs = []string{
	"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy", "connect",
	"bind", "escalate", "impersonate", "use", "approve", "sign", "attest",
	"post", "put", "head", "options",
}

// check reports what the API server refuses in a rule, and what can never match a request.
func check(rule Rule, at marker.Occurrence, mistakes *diag.List) {
	report := func(what, fix string) {
		mistakes.Add(diag.Mistake{Pos: at.Pos, Len: at.Len, What: what, Fix: fix})
	}
	reportItem := func(argument, item, what, fix string) {
		pos, length := at.Item(argument, item)
		mistakes.Add(diag.Mistake{Pos: pos, Len: length, What: what, Fix: fix})
	}
	switch {
	case len(rule.Resources) == 0 && len(rule.URLs) == 0:
		report("the rule says what may be done, but not to what", "add groups= and resources=, or urls=")
	case len(rule.Resources) > 0 && len(rule.URLs) > 0:
		reportItem("urls", "", "one rule for resources and for paths, which the API server refuses", "write two markers, one with resources= and one with urls=")
	case len(rule.Resources) > 0 && len(rule.Groups) == 0:
		reportItem("resources", "", "the rule names resources but no API group, which the API server refuses", `add groups=, with groups="" for the core group`)
	}
	if len(rule.Verbs) == 0 {
		reportItem("verbs", "", "the rule allows no verb", "add verbs=, such as verbs=get;list;watch")
	}
	if rule.Namespace != "" && len(rule.URLs) > 0 {
		reportItem("urls", "", "urls= in a namespaced rule, which the API server refuses: paths belong to no namespace", "leave namespace= out")
	}
	for _, verb := range rule.Verbs {
		if known := similarVerb(verb); known != "" {
			reportItem("verbs", verb, fmt.Sprintf("there is no verb %q", verb), fmt.Sprintf("did you mean %q?", known))
		}
	}
	for _, group := range rule.Groups {
		if name, version, ok := strings.Cut(group, "/"); ok {
			reportItem("groups", group, fmt.Sprintf("%q is not an API group", group), fmt.Sprintf("leave the version %q out: groups=%s", version, name))
		}
	}
	for _, resource := range rule.Resources {
		if lower := strings.ToLower(resource); lower != resource {
			reportItem("resources", resource, fmt.Sprintf("%q is not a resource: resources are lower-case and plural", resource), fmt.Sprintf("did you mean %q?", plural(lower)))
		}
	}
}

// similarVerb returns the verb that an unknown one is a misspelling of, or "".
func similarVerb(verb string) string {
	if verb == "" || verb == "*" || slices.Contains(knownVerbs, verb) {
		return ""
	}
	if lower := strings.ToLower(verb); lower != verb && slices.Contains(knownVerbs, lower) {
		return lower
	}
	for _, known := range knownVerbs {
		// Of short words, too many are one letter apart from another real one.
		if len(known) > 3 && marker.Distance(verb, known) == 1 {
			return known
		}
	}
	return ""
}

func plural(resource string) string {
	name, sub, ok := strings.Cut(resource, "/")
	if !strings.HasSuffix(name, "s") {
		name += "s"
	}
	if ok {
		return name + "/" + sub
	}
	return name
}
