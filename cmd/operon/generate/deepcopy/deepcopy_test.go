package deepcopy_test

import (
	"testing"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/deepcopy"
	"github.com/operon-dev/operon/cmd/operon/generate/golden"
)

var _ generate.Generator = deepcopy.Generator{}

func TestMethods(t *testing.T) {
	golden.Test(t, "testdata/*.txtar", deepcopy.Generator{})
}
