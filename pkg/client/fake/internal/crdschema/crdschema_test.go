package crdschema

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// schemaOf returns the version of a definition with that schema.
func schemaOf(t testing.TB, schema string) *Version {
	t.Helper()
	var props apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(schema), &props); err != nil {
		t.Fatal(err)
	}
	versions, err := Load(&apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Thing", Plural: "things"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &props},
		}, {Name: "v0"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(versions) != 1 {
		t.Fatalf("%d versions are served, want 1", len(versions))
	}
	return versions[0]
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNormalize(t *testing.T) {
	v := schemaOf(t, `{"type":"object","properties":{
		"spec":{"type":"object","default":{},"properties":{
			"a":{"type":"string","default":"x"},
			"n":{"type":"string","nullable":true,"default":"y"},
			"m":{"type":"object","additionalProperties":{"type":"string","default":"z"}},
			"l":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string","default":"w"}}}}}}}}`)
	for in, want := range map[string]string{
		`{}`:                               `{"spec":{"a":"x","n":"y"}}`,
		`{"spec":null}`:                    `{"spec":{"a":"x","n":"y"}}`,
		`{"spec":{"a":null,"n":null}}`:     `{"spec":{"a":"x","n":null}}`,
		`{"spec":{"a":"1","other":"2"}}`:   `{"spec":{"a":"1","n":"y"}}`,
		`{"spec":{"m":{"k":null}}}`:        `{"spec":{"a":"x","n":"y","m":{"k":"z"}}}`,
		`{"spec":{"l":[{},{"c":"gone"}]}}`: `{"spec":{"a":"x","n":"y","l":[{"b":"w"},{"b":"w"}]}}`,
		`{"spec":{"l":null}}`:              `{"spec":{"a":"x","n":"y"}}`,
	} {
		got := object(t, in)
		v.Normalize(got, false)
		if diff := cmp.Diff(object(t, want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

func TestValidateRatchets(t *testing.T) {
	v := schemaOf(t, `{"type":"object","properties":{"spec":{"type":"object","required":["r"],"properties":{
		"r":{"type":"string"},"n":{"type":"integer","maximum":3},"o":{"type":"object","required":["p"],"properties":{"p":{"type":"string"},"q":{"type":"string"}}}}}}}`)
	meta := &metav1.ObjectMeta{Name: "a", Namespace: "b", ResourceVersion: "1"}
	for _, test := range []struct {
		old, now string
		errors   int
	}{
		{"", `{"spec":{"n":5}}`, 2},
		{`{"spec":{"n":5}}`, `{"spec":{"n":5}}`, 0},
		{`{"spec":{"n":5}}`, `{"spec":{"n":6}}`, 2},
		{`{"spec":{"n":5,"r":"x"}}`, `{"spec":{"n":5,"r":"y"}}`, 0},
		{`{"spec":{"r":"x","o":{}}}`, `{"spec":{"r":"y","o":{}}}`, 0},
		{`{"spec":{"r":"x","o":{}}}`, `{"spec":{"r":"x","o":{"q":"z"}}}`, 1},
	} {
		var old map[string]any
		if test.old != "" {
			old = object(t, test.old)
		}
		if errs := v.Validate(Change{Object: object(t, test.now), Meta: meta, Old: old, OldMeta: meta}); len(errs) != test.errors {
			t.Errorf("from %s to %s: %v, want %d errors", test.old, test.now, errs, test.errors)
		}
	}
}

// FuzzNormalize checks that what has been normalized stays as it is.
func FuzzNormalize(f *testing.F) {
	v := schemaOf(f, `{"type":"object","properties":{"spec":{"type":"object","properties":{
		"a":{"type":"string","default":"x"},"n":{"type":"string","nullable":true},
		"l":{"type":"array","items":{"type":"object","properties":{"b":{"type":"integer","default":1}}}},
		"m":{"type":"object","additionalProperties":{"type":"object","properties":{"c":{"type":"string","default":"y"}}}}}}}}`)
	for _, seed := range []string{`{}`, `{"spec":{"l":[{},null,3]}}`, `{"spec":{"m":{"k":{},"n":null}}}`, `{"spec":[1],"metadata":3}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var once map[string]any
		if json.Unmarshal([]byte(text), &once) != nil || once == nil {
			t.Skip("not a JSON object")
		}
		v.Normalize(once, false)
		first, err := json.Marshal(once)
		if err != nil {
			t.Fatal(err)
		}
		v.Normalize(once, false)
		second, err := json.Marshal(once)
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(second) {
			t.Errorf("%s became %s and then %s", text, first, second)
		}
	})
}
