package fake

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/operon-dev/operon/pkg/client/fake/internal/crdschema"
)

// Rules evaluates the CEL rules (x-kubernetes-validations) of one version of a CustomResourceDefinition. It returns which of
// them object breaks, which replaces old or, if that is nil, is new. Both are of that version, with defaults filled in;
// neither may be changed or kept. It is called by several goroutines at once if the client is.
type Rules func(object, old map[string]any) field.ErrorList

// RuleCompiler returns the rules of a version of crd, or nil if it has none. It returns an error if a server would not take
// crd for its rules' sake: one does not compile, say, or may cost too much.
type RuleCompiler func(crd *apiextensionsv1.CustomResourceDefinition, version string) (Rules, error)

// WithCELRules makes the client evaluate the CEL rules in the definitions of WithCRDs, on whatever is created or changed.
// Default: rules are not evaluated. It is Operon's own.
//
// The interpreter is an API server's, which is more than an operator should have to link for its tests' sake. It is therefore
// in a Go module of its own, for those who want it; go get github.com/operon-dev/operon/pkg/client/fake/celrules, and then
//
//	fake.NewClientBuilder().WithCRDs(crds...).WithCELRules(celrules.Compile).Build()
//
// A definition that compile does not take is a panic in Build.
func (f *ClientBuilder) WithCELRules(compile RuleCompiler) *ClientBuilder {
	f.compileRules = compile
	return f
}

// compile gives the versions of crd their rules.
func (c RuleCompiler) compile(crd *apiextensionsv1.CustomResourceDefinition, served []*crdschema.Version) error {
	if c == nil {
		return nil
	}
	for _, v := range served {
		rules, err := c(crd, v.Kind.Version)
		if err != nil {
			return fmt.Errorf("CustomResourceDefinition %s, version %s: %w", crd.Name, v.Kind.Version, err)
		}
		v.Rules = rules
	}
	return nil
}
