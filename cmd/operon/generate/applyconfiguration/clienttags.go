package applyconfiguration

import (
	"fmt"
	"slices"
	"strings"
)

// clientTags are what the markers +genclient of a type say about its client, as far as that concerns apply configurations.
type clientTags struct {
	client     bool
	cluster    bool
	noStatus   bool
	skipped    []string
	extensions []extension
}

// extension is a further method of the client.
type extension struct{ verb, subresource, input string }

// verbs are what a client can do.
var verbs = []string{
	"create", "update", "updateStatus", "delete", "deleteCollection", "get", "list", "watch", "patch", "apply", "applyStatus",
}

// markerError is what is wrong with a marker.
type markerError struct{ text, what, fix string }

func (e *markerError) Error() string { return e.text + ": " + e.what + ": " + e.fix }

// parseClientTags reads the markers among a type's comment lines. Its errors are markerErrors.
func parseClientTags(lines []string) (clientTags, error) {
	var t clientTags
	var only []string
	limited := false
	for _, l := range lines {
		text, ok := strings.CutPrefix(strings.Trim(l, " "), "+")
		if !ok || !strings.HasPrefix(text, "genclient") {
			continue
		}
		name, value, _ := strings.Cut(text, "=")
		switch name {
		case "genclient":
			if value != "" {
				return t, &markerError{"+" + text, "+genclient has no value", "write +genclient, or leave it out for no client"}
			}
			t.client = true
		case "genclient:nonNamespaced":
			t.cluster = true
		case "genclient:noStatus":
			t.noStatus = true
		case "genclient:noVerbs":
		case "genclient:readonly":
			limited = true
			only = append(only, "get", "list", "watch")
		case "genclient:onlyVerbs":
			limited = true
			only = append(only, strings.Split(value, ",")...)
		case "genclient:skipVerbs":
			if t.skipped == nil {
				t.skipped = strings.Split(value, ",")
			}
		case "genclient:method":
			e, err := parseExtension(value)
			if err != nil {
				return t, &markerError{"+" + text, err.Error(), "write method=NAME,verb=VERB,subresource=NAME,input=TYPE,result=TYPE, of which the last three may be missing"}
			}
			t.extensions = append(t.extensions, e)
		default:
			return t, &markerError{"+" + name, "no marker of clients is called +" + name,
				"they are genclient, and genclient: with nonNamespaced, noVerbs, onlyVerbs, skipVerbs, noStatus, readonly or method"}
		}
	}
	if limited {
		t.skipped = nil
		for _, v := range verbs {
			if !slices.Contains(only, v) {
				t.skipped = append(t.skipped, v)
			}
		}
	}
	return t, nil
}

func parseExtension(text string) (extension, error) {
	var e extension
	name, rest, _ := strings.Cut(text, ",")
	if name == "" {
		return e, fmt.Errorf("the method has no name")
	}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || value == "" || strings.Contains(value, "=") {
			return e, fmt.Errorf("%q is not of the form key=value", part)
		}
		switch key {
		case "verb":
			e.verb = value
		case "subresource":
			e.subresource = value
		case "input":
			e.input = value
		case "result":
		default:
			return e, fmt.Errorf("%s is none of verb, subresource, input and result", key)
		}
	}
	if e.verb == "" {
		return e, fmt.Errorf("the method %s has no verb", name)
	}
	return e, nil
}

// applies reports whether the client has a method that applies.
func (t clientTags) applies() bool {
	return t.client && (!slices.Contains(t.skipped, "apply") || !slices.Contains(t.skipped, "applyStatus"))
}
