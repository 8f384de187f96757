package conversion_test

import (
	"testing"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/conversion"
	"github.com/operon-dev/operon/cmd/operon/generate/golden"
)

var _ generate.Generator = conversion.Generator{}

func TestMistakesSayTheWayOut(t *testing.T) {
	golden.Test(t, "testdata/mistakes.txtar", conversion.Generator{})
}

func TestShapes(t *testing.T) {
	golden.Test(t, "testdata/shapes.txtar", conversion.Generator{})
}
