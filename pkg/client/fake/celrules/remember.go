package celrules

import (
	"encoding/json"
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operon-dev/operon/pkg/client/fake"
)

// Remember returns a Compile that compiles what it has been given before no second time. Compiling takes a millisecond or two for
// each rule, which adds up in a suite that builds a client for every test:
//
//	var rules = celrules.Remember()
//
// It may be used by several goroutines at once.
func Remember() fake.RuleCompiler {
	type compiled struct {
		rules fake.Rules
		err   error
	}
	var mu sync.Mutex
	known := map[string]compiled{}
	return func(crd *apiextensionsv1.CustomResourceDefinition, version string) (fake.Rules, error) {
		spec, err := json.Marshal(crd.Spec)
		if err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name, err)
		}
		key := version + "/" + crd.Name + "/" + string(spec)
		mu.Lock()
		defer mu.Unlock()
		found, ok := known[key]
		if !ok {
			found.rules, found.err = Compile(crd, version)
			known[key] = found
		}
		return found.rules, found.err
	}
}
