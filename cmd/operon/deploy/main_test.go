package deploy

import (
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/envtest"
)

var config *rest.Config

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run starts one cluster for all tests of the package; each has its own names on it.
func run(m *testing.M) int {
	if os.Getenv("OPERON") == "" {
		return m.Run()
	}
	env := &envtest.Environment{Nodes: 1}
	var err error
	if config, err = env.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := env.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}

// cluster returns the configuration of the package's cluster.
func cluster(t *testing.T) *rest.Config {
	t.Helper()
	if config == nil {
		t.Skip("OPERON does not name the operon binary: make test sets it")
	}
	return config
}
