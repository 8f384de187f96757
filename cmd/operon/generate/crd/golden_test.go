package crd_test

import (
	"testing"

	"github.com/operon-dev/operon/cmd/operon/generate/admit"
	"github.com/operon-dev/operon/cmd/operon/generate/crd"
	"github.com/operon-dev/operon/cmd/operon/generate/golden"
)

func TestGenerate(t *testing.T) {
	golden.TestJudged(t, "testdata/*.txtar", crd.Generator{ToolVersion: "v0.23.0"}, admit.Judge)
}

func TestDescriptionsGiveWayToTheSizeOfADefinition(t *testing.T) {
	golden.Test(t, "testdata/size/*.txtar", crd.Generator{ToolVersion: "v0.23.0", MaxSize: new(720)})
}

func TestStructsHaveTheDefaultsOfTheirFields(t *testing.T) {
	golden.TestJudged(t, "testdata/nested/*.txtar", crd.Generator{ToolVersion: "v0.23.0", NestedDefaults: new(true)}, admit.Judge)
}
