// Package celrules lets the fake client evaluate the CEL rules (x-kubernetes-validations) of CustomResourceDefinitions.
//
//	c := fake.NewClientBuilder().WithCRDs(crds...).WithCELRules(celrules.Compile).Build()
//
// It is a Go module of its own, because it links the API server's interpreter: a module that does not import this package gets
// none of that, and one that imports it in tests only does not get it into its binary.
//
// Nouns: a rule is an entry of x-kubernetes-validations in a schema. [Compile] makes the rules of one version of a definition into a
// function that says which of them an object breaks.
//
// # Guarantees
//
// The code that compiles and evaluates rules is the API server's own, k8s.io/apiextensions-apiserver in the version in go.mod,
// and a test compares random operations with a real control plane: what is refused and why, word for word, are the same. Thus
// transition rules (oldSelf, optionalOldSelf), message and messageExpression, reason, fieldPath, the limits of what a rule may
// be estimated to cost and may really cost, and ratcheting: a rule is not asked about a field that was broken before and has
// not been touched.
//
// # What is not done
//
// Of a definition only the rules are judged; the rest of what a server would say about it goes unsaid. ValidatingAdmissionPolicies are not
// evaluated: the fake has no admission.
package celrules
