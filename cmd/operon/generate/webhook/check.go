package webhook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// checker reports what the API server refuses in the webhook of one marker.
type checker struct {
	at       marker.Occurrence
	mistakes *diag.List
}

func (c *checker) report(what, fix string) {
	c.mistakes.Add(diag.Mistake{Pos: c.at.Pos, Len: c.at.Len, What: what, Fix: fix})
}

// reportItem reports a mistake in an argument, at a word of it where it has that word.
func (c *checker) reportItem(argument, item, what, fix string) {
	pos, length := c.at.Item(argument, item)
	c.mistakes.Add(diag.Mistake{Pos: pos, Len: length, What: what, Fix: fix})
}

// oneOf returns the allowed value that an argument's value means, whatever its case.
func (c *checker) oneOf(argument, value string, allowed ...string) string {
	for _, a := range allowed {
		if strings.EqualFold(a, value) {
			return a
		}
	}
	shown := slices.Clone(allowed)
	if argument == "verbs" {
		for i := range shown {
			shown[i] = strings.ToLower(shown[i])
		}
	}
	last := len(shown) - 1
	c.reportItem(argument, value, fmt.Sprintf("%s cannot be %q", argument, value), "write "+strings.Join(shown[:last], ", ")+" or "+shown[last])
	return value
}

// check looks at a webhook as it will be sent.
func (c *checker) check(e entry) {
	if strings.Count(e.Name, ".") < 2 {
		c.reportItem("name", e.Name, fmt.Sprintf("the name %q is not a domain of at least three parts, which the API server asks for", e.Name), "such as vorder.shop.example.com")
	}
	switch {
	case e.SideEffects == nil:
		c.report("sideEffects is missing, which the API server refuses", "add sideEffects=None, or NoneOnDryRun")
	case *e.SideEffects == "Some" || *e.SideEffects == "Unknown":
		c.reportItem("sideEffects", *e.SideEffects, fmt.Sprintf("sideEffects=%s is refused by the API server", *e.SideEffects), "write None, or NoneOnDryRun")
	}
	if e.TimeoutSeconds != nil && (*e.TimeoutSeconds < 1 || *e.TimeoutSeconds > 30) {
		c.reportItem("timeoutSeconds", "", fmt.Sprintf("timeoutSeconds=%d is not between 1 and 30", *e.TimeoutSeconds), "the API server waits 10 seconds if it is left out")
	}
	if !slices.Contains(e.AdmissionReviewVersions, "v1") && !slices.Contains(e.AdmissionReviewVersions, "v1beta1") {
		c.reportItem("admissionReviewVersions", "", "admissionReviewVersions names no version that the API server speaks", "write admissionReviewVersions=v1")
	}
	for _, r := range e.Rules {
		if len(r.Operations) > 1 && slices.Contains(r.Operations, "*") {
			c.reportItem("verbs", "", "verbs has * and others besides, which the API server refuses", "write verbs=* alone")
		}
	}
	if s := e.ClientConfig.Service; s != nil && s.Path != nil && !strings.HasPrefix(*s.Path, "/") {
		c.reportItem("path", "", fmt.Sprintf("the path %q does not begin with a slash", *s.Path), fmt.Sprintf("write path=/%s", *s.Path))
	}
	if e.ClientConfig.URL != nil && e.ClientConfig.Service != nil {
		c.reportItem("patch", "", "the patch gives the webhook a URL besides its service", "write url= instead of path=")
	}
}
