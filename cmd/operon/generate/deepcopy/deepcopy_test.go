package deepcopy_test

import (
	"context"
	"testing"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/deepcopy"
	"github.com/operon-dev/operon/cmd/operon/generate/golden"
)

var _ generate.Generator = deepcopy.Generator{}

func TestMethods(t *testing.T) {
	golden.Test(t, "testdata/*.txtar", deepcopy.Generator{})
}

func TestObjectsThatAreNone(t *testing.T) {
	nothing := func(context.Context, []byte) ([]generate.Refusal, error) { return nil, nil }
	golden.TestJudged(t, "testdata/objects/*.txtar", deepcopy.Generator{}, nothing)
}
