package crd

import (
	"testing"

	"k8s.io/client-go/util/jsonpath"
)

// An object with a value wherever its schema allows one.
var (
	aText, aNumber = &Schema{Type: "string"}, &Schema{Type: "integer"}

	walked = &Version{Schema: &Schema{Type: "object", Properties: map[string]*Schema{
		"kind": aText, "metadata": {Type: "object"},
		"spec": {Type: "object", Properties: map[string]*Schema{
			"size": aNumber, "on": {Type: "boolean"}, "limits": {Type: "object", AdditionalProperties: aNumber}, "texts": {Type: "array", Items: aText},
			"open": {Type: "object", PreserveUnknownFields: new(true), Properties: map[string]*Schema{"known": aText}},
			"items": {Type: "array", Items: &Schema{Type: "object", Properties: map[string]*Schema{
				"type": aText, "count": aNumber, "on": {Type: "boolean"},
			}}},
		}},
	}}}

	walkedObject = map[string]any{
		"kind": "T",
		"metadata": map[string]any{
			"name": "t", "labels": map[string]any{"example.com/zone": "a", "zone": "b"}, "creationTimestamp": "2026-01-01T00:00:00Z",
			"ownerReferences": []any{map[string]any{"kind": "Owner", "name": "o"}},
		},
		"spec": map[string]any{
			"size": int64(3), "on": true, "limits": map[string]any{"cpu": int64(1)}, "texts": []any{"x"},
			"open":  map[string]any{"known": "k", "other": "o"},
			"items": []any{map[string]any{"type": "Ready", "count": int64(2), "on": true}, map[string]any{"type": "Other (x)", "count": int64(1), "on": false}},
		},
	}
)

// What is said of a path is what the API server makes of it: it uses this very package for columns.
func TestPathsLeadWhereTheAPIServerFindsSomething(t *testing.T) {
	const (
		somewhere = iota
		nowhere
		open
	)
	for path, want := range map[string]int{
		`.kind`: somewhere, `.spec`: somewhere, `.spec.size`: somewhere, `.spec .size`: somewhere, `.spec['size']`: somewhere,
		`.metadata.name`: somewhere, `.metadata.creationTimestamp`: somewhere, `.metadata.ownerReferences[?(@.kind=="Owner")].name`: somewhere,
		`.metadata.labels.zone`: somewhere, `.metadata.labels['example\.com/zone']`: somewhere, `.metadata.labels.example\.com/zone`: somewhere,
		`.spec.limits.cpu`: somewhere, `.spec.limits.*`: somewhere, `.spec.texts[0]`: somewhere, `.spec.texts[-1:]`: somewhere, `.spec.texts[*]`: somewhere,
		`.spec.items[0].type`: somewhere, `.spec.items[*].count`: somewhere, `.spec.items[?(@.type=="Ready")].count`: somewhere,
		`.spec.items[?(@.type == 'Ready')].count`: somewhere, `.spec.items[?(@.type=='Other (x)')].count`: somewhere, `.spec.items[?(@.count>1)].type`: somewhere,
		`.spec.items[?(@.count>=-1)].type`: somewhere, `.spec.items[?(@.on==true)].type`: somewhere, `.spec.items[?(@.type)].type`: somewhere, `.spec.open.known`: somewhere,

		`.spec.sise`: nowhere, `.sepc.size`: nowhere, `.metadata.nam`: nowhere, `.spec.size.x`: nowhere, `.spec.items.type`: nowhere, `.spec.items.[0]`: open,
		`.spec[0]`: nowhere, `.spec[*]`: nowhere, `.spec[?(@.size==3)]`: nowhere, `.spec.limits[0]`: nowhere, `.spec.items[0].typ`: nowhere,
		`.metadata.labels['example.com/zone']`: nowhere, `.metadata.labels.example.com/zone`: nowhere, `.metadata.labels["zone"]`: nowhere, `.metadata.labels[zone]`: nowhere,
		`.spec.items[?(@.type="Ready")].type`: nowhere, `.spec.items[?(@.type===“Ready”)].type`: nowhere, `.spec.items[?(@.type==Ready)].type`: nowhere,
		`.spec.items[?(@.typ=="Ready")].type`: nowhere, `.spec.items[?(@.type=="Ready")`: nowhere, `.spec.items[?(@.type=="Ready".type`: nowhere, `.spec.items[0`: nowhere,

		`..type`: open, `.spec.items[0,1].type`: open, `.spec.*`: open, `.spec.open.other`: open,
	} {
		w := walked.follow(path)
		got := somewhere
		if w.wrong.what != "" {
			got = nowhere
		} else if w.at == nil {
			got = open
		}
		if got != want {
			t.Errorf("%s: %d (%q), want %d", path, got, w.wrong.what, want)
		}
		found := finds(path)
		if want == somewhere && !found || want == nowhere && found {
			t.Errorf("%s: that the API server finds something there is %v", path, found)
		}
	}
}

func finds(path string) bool {
	j := jsonpath.New("").AllowMissingKeys(true)
	if err := j.Parse("{" + path + "}"); err != nil {
		return false
	}
	results, err := j.FindResults(walkedObject)
	return err == nil && len(results) > 0 && len(results[0]) > 0
}

func FuzzPathsLeadWhereTheAPIServerFindsSomething(f *testing.F) {
	for _, path := range []string{
		`.spec.size`, `.spec['size']`, `.metadata.labels['example\.com/zone']`, `.spec.items[?(@.type=="Ready")].count`, `.spec.items[-1:].type`, `.spec.limits.*`, `..type`,
		`.spec.items[?(@.count>1)].type`, `.spec .open.known[0]`, `.spec.texts[*]`,
	} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		w := walked.follow(path)
		if w.wrong.what != "" && finds(path) {
			t.Errorf("%q is said to lead nowhere (%s), and the API server finds something there", path, w.wrong.what)
		}
	})
}
