package celrules_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/envtest"
)

// plane is the control plane that the tests of this package share. It starts when the first of them needs it.
var plane struct {
	once   sync.Once
	env    *envtest.Environment
	config *rest.Config
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if plane.env != nil {
		if err := plane.env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// realServer returns the configuration of a real API server that serves plants, or skips the test.
func realServer(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("OPERON") == "" {
		t.Skip("needs a real API server: set OPERON to the path of the operon binary")
	}
	plane.once.Do(func() {
		plane.env = &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{plantCRD(t)}}
		plane.config, plane.err = plane.env.Start()
		if plane.err != nil {
			plane.env = nil
		}
	})
	if plane.err != nil {
		t.Fatal(plane.err)
	}
	config := rest.CopyConfig(plane.config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	return config
}
