package accept

import (
	"encoding/json"
	"strings"
	"testing"

	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/operon-dev/operon/cmd/operon/generate/admit"
)

func TestLimitsAreTheAPIServers(t *testing.T) {
	if maxRuleCost != validation.StaticEstimatedCostLimit || maxVersionCost != validation.StaticEstimatedCRDCostLimit {
		t.Errorf("%d and %d, want %d and %d", maxRuleCost, maxVersionCost, validation.StaticEstimatedCostLimit, validation.StaticEstimatedCRDCostLimit)
	}
}

// spec has a schema in which one field is put to the test.
const spec = `{"type": "object", "properties": {"spec": {"type": "object", "properties": {"field": FIELD}}}}`

func definition(t testing.TB, schema string) []byte {
	t.Helper()
	var root v1.JSONSchemaProps
	if err := json.Unmarshal([]byte(schema), &root); err != nil {
		t.Fatal(err)
	}
	var d v1.CustomResourceDefinition
	d.Name, d.Spec.Group, d.Spec.Scope = "things.example.com", "example.com", "Namespaced"
	d.Spec.Names = v1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"}
	d.Spec.Versions = []v1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &v1.CustomResourceValidation{OpenAPIV3Schema: &root}}}
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Both verdicts are asked for in every case: what is accepted here, the API server's whole validation has to accept.
func TestVerdictsAreTheAPIServers(t *testing.T) {
	for name, test := range map[string]struct {
		field string
		// want is the API server's verdict; left says that it is left to the API server to say that all is fine.
		want, left bool
	}{
		"a rule":                                        {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''"}]}`, true, false},
		"a rule that does not parse":                    {`{"type": "string", "x-kubernetes-validations": [{"rule": "self !="}]}`, false, false},
		"a rule of another type":                        {`{"type": "string", "x-kubernetes-validations": [{"rule": "self > 3"}]}`, false, false},
		"a rule that is no condition":                   {`{"type": "string", "x-kubernetes-validations": [{"rule": "self"}]}`, false, false},
		"a rule on an unknown field":                    {`{"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "self.b == 'x'"}]}`, false, false},
		"an empty rule":                                 {`{"type": "string", "x-kubernetes-validations": [{"rule": " "}]}`, false, false},
		"a pattern that is none":                        {`{"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self.matches('[')"}]}`, false, false},
		"a duration that is none":                       {`{"type": "string", "x-kubernetes-validations": [{"rule": "duration('x') > duration('1s')"}]}`, false, false},
		"a pattern to find that is none":                {`{"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self.find('[') == ''"}]}`, false, false},
		"a conversion that fails":                       {`{"type": "string", "x-kubernetes-validations": [{"rule": "int('a') == 1"}]}`, false, false},
		"a message's conversion that fails":             {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "messageExpression": "string(int('a'))"}]}`, false, false},
		"a default of one of two equal schemas":         {`{"type": "object", "properties": {"a": EQUAL, "b": {"type": "object", "default": {"a": "y"}, "properties": {"a": EQUAL}}}}`, true, false},
		"a wrong default of one of two equal schemas":   {`{"type": "object", "properties": {"a": EQUAL, "b": {"type": "object", "default": {"a": "x"}, "properties": {"a": EQUAL}}}}`, false, false},
		"an expensive rule":                             {`{"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": [{"rule": "self.all(a, self.all(b, a == b))"}]}`, false, false},
		"a rule in lists without bounds":                {`{"type": "array", "items": {"type": "array", "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self.contains('a')"}]}}}`, false, false},
		"a rule in bounded lists":                       {`{"type": "array", "maxItems": 9, "items": {"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self.contains('a')"}]}}}`, true, false},
		"a rule in a map":                               {`{"type": "object", "maxProperties": 9, "additionalProperties": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self.contains('a')"}]}}`, true, false},
		"many rules that add up":                        {`{"type": "string", "maxLength": 20000, "x-kubernetes-validations": [` + strings.TrimSuffix(strings.Repeat(`{"rule": "[1,2,3,4,5,6,7,8,9,10].all(x, [1,2,3,4,5,6,7,8,9,10,11,12].all(y, self.contains('abcdefghijklmnopqrstuvwxyz')))"},`, 40), ",") + `]}`, false, false},
		"a message":                                     {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "message": "no"}]}`, true, false},
		"a blank message":                               {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "message": " "}]}`, false, false},
		"a message of two lines":                        {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "message": "a\nb"}]}`, false, false},
		"a rule of two lines":                           {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''\n&& true"}]}`, false, false},
		"a message's expression":                        {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "messageExpression": "'not ' + self"}]}`, true, false},
		"a message's expression that is a number":       {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "messageExpression": "1"}]}`, false, false},
		"an expensive message":                          {`{"type": "array", "items": {"type": "array", "items": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "true", "messageExpression": "self.all(a, self.all(b, a == b)) ? 'x' : 'y'"}]}`, false, false},
		"a reason":                                      {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "reason": "FieldValueForbidden"}]}`, true, false},
		"a reason that is none":                         {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "reason": "Because"}]}`, false, false},
		"a path":                                        {`{"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "has(self.a)", "fieldPath": ".a"}]}`, true, false},
		"a path that leads nowhere":                     {`{"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "has(self.a)", "fieldPath": ".b"}]}`, false, false},
		"a former value":                                {`{"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}`, true, false},
		"a former value in a list":                      {`{"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}`, false, false},
		"a former value in a list of maps":              {`{"type": "array", "maxItems": 9, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "maxLength": 9}}, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}`, true, false},
		"a former value that may be none":               {`{"type": "string", "x-kubernetes-validations": [{"rule": "!oldSelf.hasValue() || self == oldSelf.value()", "optionalOldSelf": true}]}`, true, false},
		"a former value that no rule uses":              {`{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "optionalOldSelf": true}]}`, false, false},
		"a default that obeys":                          {`{"type": "string", "default": "a", "x-kubernetes-validations": [{"rule": "self != ''"}]}`, true, false},
		"a default that does not":                       {`{"type": "string", "default": "", "x-kubernetes-validations": [{"rule": "self != ''"}]}`, false, false},
		"a default with a part that does not":           {`{"type": "array", "maxItems": 3, "default": [{"a": "x"}], "items": {"type": "object", "properties": {"a": {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'y'"}]}}}}`, false, false},
		"a default with a value of a map that does not": {`{"type": "object", "maxProperties": 3, "default": {"k": "x"}, "additionalProperties": {"type": "string", "maxLength": 3, "x-kubernetes-validations": [{"rule": "self == 'y'"}]}}`, false, false},
		"a default with a former value":                 {`{"type": "string", "default": "a", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}`, true, true},
		"an embedded object":                            {`{"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "self.metadata.name != ''"}]}`, true, false},
		"a name that is a keyword":                      {`{"type": "object", "properties": {"namespace": {"type": "string"}, "in": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "self.namespace != '' && self.__in__ != ''"}]}`, true, false},
		"the type's made-up name":                       {`{"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "selfType1{} == self"}]}`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			field := strings.ReplaceAll(test.field, "EQUAL", `{"type": "string", "x-kubernetes-validations": [{"rule": "self == 'y'"}]}`)
			data := definition(t, strings.Replace(spec, "FIELD", field, 1))
			refusals, err := admit.Judge(t.Context(), data)
			if err != nil {
				t.Fatal(err)
			}
			if fine := len(refusals) == 0; fine != test.want {
				t.Fatalf("the API server's verdict is %v, not %v: %v", fine, test.want, refusals)
			}
			accepted, err := Rules(t.Context(), [][]byte{data})
			if err != nil {
				t.Fatal(err)
			}
			if want := test.want && !test.left; accepted[0] != want {
				t.Errorf("accepted is %v, want %v", accepted[0], want)
			}
		})
	}
}

func TestDefinitionsAreToldApart(t *testing.T) {
	right := definition(t, strings.Replace(spec, "FIELD", `{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''"}]}`, 1))
	wrong := definition(t, strings.Replace(spec, "FIELD", `{"type": "string", "x-kubernetes-validations": [{"rule": "self"}]}`, 1))
	accepted, err := Rules(t.Context(), [][]byte{right, wrong, right})
	if err != nil {
		t.Fatal(err)
	}
	if len(accepted) != 3 || !accepted[0] || accepted[1] || !accepted[2] {
		t.Errorf("%v, want true, false, true", accepted)
	}
}

func BenchmarkRules(b *testing.B) {
	data := definition(b, strings.Replace(spec, "FIELD", `{"type": "object", "properties": {"a": {"type": "string", "maxLength": 9}, "b": {"type": "string", "maxLength": 9}}, "x-kubernetes-validations": [{"rule": "has(self.a) != has(self.b)"}, {"rule": "!has(self.a) || self.a.startsWith('x')"}]}`, 1))
	b.ReportAllocs()
	for b.Loop() {
		if accepted, err := Rules(b.Context(), [][]byte{data}); err != nil || !accepted[0] {
			b.Fatal(accepted, err)
		}
	}
}
