package applyconfiguration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClientTags(t *testing.T) {
	for lines, want := range map[string]struct{ client, cluster, noStatus, applies bool }{
		"":           {},
		"genclient":  {},
		"+genclient": {client: true, applies: true},
		"+genclient\n+genclient:nonNamespaced\n+genclient:noStatus": {client: true, cluster: true, noStatus: true, applies: true},
		"+genclient\n+genclient:readonly":                           {client: true},
		"+genclient\n+genclient:onlyVerbs=get,applyStatus":          {client: true, applies: true},
		"+genclient\n+genclient:skipVerbs=apply,applyStatus":        {client: true},
		"+genclient\n+genclient:skipVerbs=apply":                    {client: true, applies: true},
	} {
		got, err := parseClientTags(strings.Split(lines, "\n"))
		if err != nil {
			t.Errorf("%q: %v", lines, err)
		}
		if got.client != want.client || got.cluster != want.cluster || got.noStatus != want.noStatus || got.applies() != want.applies {
			t.Errorf("%q: %+v, applies: %t, want %+v", lines, got, got.applies(), want)
		}
	}
}

func FuzzClientTags(f *testing.F) {
	f.Add("+genclient\n+genclient:method=UpdateScale,verb=update,subresource=scale,input=Scale,result=Scale")
	f.Add("+genclient:onlyVerbs=get,list\n+genclient:skipVerbs=apply")
	f.Add("+genclient=x\n+genclient:method=,")
	f.Fuzz(func(t *testing.T, text string) {
		tags, err := parseClientTags(strings.Split(text, "\n"))
		if err != nil {
			return
		}
		if tags.applies() && !tags.client {
			t.Errorf("%q applies without a client", text)
		}
		for _, e := range tags.extensions {
			if e.verb == "" {
				t.Errorf("%q has a method without a verb", text)
			}
		}
	})
}

func FuzzMapping(f *testing.F) {
	f.Add("k8s.io/api/core/v1.Pod@k8s.io/client-go/applyconfigurations/core/v1")
	f.Add("Pod@x")
	f.Add("a.b/c@d")
	f.Fuzz(func(t *testing.T, text string) {
		typ, pkg, err := parseMapping(text)
		if err == nil && typ.pkg+"."+typ.name+"@"+pkg != text {
			t.Errorf("%q became %v and %q", text, typ, pkg)
		}
		if err == nil && slices.Contains([]string{typ.pkg, typ.name, pkg}, "") {
			t.Errorf("%q has an empty part", text)
		}
	})
}

func TestSchemasAreNamedAsInOpenAPI(t *testing.T) {
	for _, tt := range []struct{ pkg, name, want string }{
		{"k8s.io/api/core/v1", "Pod", "io.k8s.api.core.v1.Pod"},
		{"example.com/x/vendor/k8s.io/api/core/v1", "Pod", "io.k8s.api.core.v1.Pod"},
		{"shop/api/v1", "Order", "shop.api.v1.Order"},
		{"example.com", "Order", "com.example.Order"},
	} {
		if got := schemaName(tt.pkg, tt.name); got != tt.want {
			t.Errorf("%s of %s: %s, want %s", tt.name, tt.pkg, got, tt.want)
		}
	}
}

// Of the words that YAML 1.1 takes for truth values a default has the value; the peer reads it so.
func TestDefaultsAreReadAsYAML(t *testing.T) {
	tree := map[string]any{"a": []any{"y", "Off", "text"}, "n": 1.0}
	want := map[string]any{"a": []any{true, false, "text"}, "n": int64(1)}
	if diff := cmp.Diff(want, asYAML(tree)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if tree["a"].([]any)[0] != "y" {
		t.Error("the default itself has changed")
	}
}
