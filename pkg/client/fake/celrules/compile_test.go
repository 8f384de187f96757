package celrules_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/client/fake/celrules"
)

// withRule returns a definition of plants with one more rule about their spec.
func withRule(t *testing.T, rule apiextensionsv1.ValidationRule) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := plantCRD(t)
	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := root.Properties["spec"]
	spec.XValidations = append(spec.XValidations, rule)
	root.Properties["spec"] = spec
	return crd
}

// causes returns what is wrong with a definition, as a server's error and as that of Compile have it.
func causes(t *testing.T, err error) []string {
	t.Helper()
	var out []string
	var status apierrors.APIStatus
	var all utilerrors.Aggregate
	switch {
	case err == nil:
	case errors.As(err, &status):
		for _, c := range status.Status().Details.Causes {
			out = append(out, c.Field+": "+c.Message)
		}
	case errors.As(err, &all):
		for _, err := range all.Errors() {
			invalid := err.(*field.Error)
			out = append(out, invalid.Field+": "+invalid.ErrorBody())
		}
	default:
		t.Fatalf("%T: %v", err, err)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestDefinitionsAreTakenOrNotAsTheServerDoes(t *testing.T) {
	config := realServer(t)
	real, err := clientset.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		rule  apiextensionsv1.ValidationRule
		taken bool
	}{
		"a rule like others":            {apiextensionsv1.ValidationRule{Rule: "self.max > 0"}, true},
		"a rule that does not compile":  {apiextensionsv1.ValidationRule{Rule: "self.max >"}, false},
		"an unknown field":              {apiextensionsv1.ValidationRule{Rule: "self.maximum > 0"}, false},
		"a rule that is not a question": {apiextensionsv1.ValidationRule{Rule: "self.max"}, false},
		"a rule that may cost too much": {apiextensionsv1.ValidationRule{Rule: "self.roots.all(a, self.roots.all(b, a.contains(b)))"}, false},
		"a bad messageExpression":       {apiextensionsv1.ValidationRule{Rule: "self.max > 0", MessageExpression: "self.max"}, false},
		"a fieldPath to nowhere":        {apiextensionsv1.ValidationRule{Rule: "self.max > 0", FieldPath: ".maximum"}, false},
		"optionalOldSelf without use":   {apiextensionsv1.ValidationRule{Rule: "self.max > 0", OptionalOldSelf: new(true)}, false},
		"no rule":                       {apiextensionsv1.ValidationRule{}, false},
		"a message of several lines":    {apiextensionsv1.ValidationRule{Rule: "self.max > 0", Message: "a\nb"}, false},
		"a rule of several lines":       {apiextensionsv1.ValidationRule{Rule: "self.max > 0 &&\nself.max > 1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			crd := withRule(t, test.rule)
			_, err := celrules.Compile(crd, "v1")
			if (err == nil) != test.taken {
				t.Errorf("error %v", err)
			}
			crd.Name, crd.Spec.Group = "plants.judged.example.com", "judged.example.com"
			_, judged := real.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), crd, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if diff := cmp.Diff(causes(t, judged), causes(t, err)); diff != "" {
				t.Errorf("-server +Compile\n%s", diff)
			}
		})
	}
}

func TestVersionsWithoutRules(t *testing.T) {
	crd := plantCRD(t)
	crd.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}
	if rules, err := celrules.Compile(crd, "v1"); err != nil || rules != nil {
		t.Errorf("rules %p, %v", rules, err)
	}
	crd.Spec.Versions[0].Schema = nil
	if rules, err := celrules.Compile(crd, "v1"); err != nil || rules != nil {
		t.Errorf("no schema: rules %p, %v", rules, err)
	}
	if _, err := celrules.Compile(crd, "v2"); err == nil || !strings.Contains(err.Error(), `"v2"`) {
		t.Errorf("a version that is not there: %v", err)
	}
}

func TestBrokenRuleIsNamedByBuild(t *testing.T) {
	crd := withRule(t, apiextensionsv1.ValidationRule{Rule: "self.maximum > 0"})
	defer func() {
		err, _ := recover().(error)
		if err == nil || !strings.Contains(err.Error(), "CustomResourceDefinition plants.example.com, version v1: ") || !strings.Contains(err.Error(), "maximum") {
			t.Errorf("panic %v", err)
		}
	}()
	fake.NewClientBuilder().WithCRDs(crd).WithCELRules(celrules.Compile).Build()
}

// TestRulesSeeTheVersionOfTheRequest: objects are kept in the stored version, and a rule may read apiVersion.
func TestRulesSeeTheVersionOfTheRequest(t *testing.T) {
	crd := plantCRD(t)
	second := *crd.Spec.Versions[0].DeepCopy()
	second.Name, second.Storage = "v2", false
	second.Schema.OpenAPIV3Schema.XValidations = append(second.Schema.OpenAPIV3Schema.XValidations, apiextensionsv1.ValidationRule{
		Rule: "self.apiVersion.endsWith('/v2') && oldSelf.apiVersion.endsWith('/v2')", Message: "not v2",
	})
	crd.Spec.Versions = append(crd.Spec.Versions, second)
	c := fake.NewClientBuilder().WithCRDs(crd).WithCELRules(celrules.Compile).Build()
	p := plant("a")
	p.SetAPIVersion("example.com/v2")
	if err := c.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	p.SetAPIVersion("example.com/v2")
	p.SetLabels(map[string]string{"a": "b"})
	if err := c.Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsRememberedIsTheDefinitionNotItsName(t *testing.T) {
	remembered := celrules.Remember()
	first, err := remembered(plantCRD(t), "v1")
	if err != nil || first == nil {
		t.Fatal(err)
	}
	if len(first(map[string]any{"spec": map[string]any{"min": int64(5), "max": int64(1)}, "metadata": map[string]any{"name": "a"}}, nil)) == 0 {
		t.Error("no rule is broken")
	}
	if again, err := remembered(plantCRD(t), "v1"); err != nil || again == nil {
		t.Error(err)
	}
	broken := withRule(t, apiextensionsv1.ValidationRule{Rule: "self.maximum > 0"})
	for range 2 {
		if _, err := remembered(broken, "v1"); err == nil {
			t.Error("a definition of the same name was taken for another")
		}
	}
	if _, err := remembered(plantCRD(t), "v2"); err == nil {
		t.Error("a version was taken for another")
	}
}

func BenchmarkBuild(b *testing.B) {
	crd := plantCRD(b)
	for name, compile := range map[string]fake.RuleCompiler{"Compile": celrules.Compile, "Remember": celrules.Remember()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fake.NewClientBuilder().WithCRDs(crd).WithCELRules(compile).Build()
			}
		})
	}
}
