package crd_test

import (
	"testing"

	"github.com/operon-dev/operon/cmd/operon/generate/crd"
	"github.com/operon-dev/operon/cmd/operon/generate/golden"
)

func TestGenerate(t *testing.T) {
	golden.Test(t, "testdata/*.txtar", crd.Generator{ToolVersion: "v0.23.0"})
}

func TestDescriptionsGiveWayToTheSizeOfADefinition(t *testing.T) {
	golden.Test(t, "testdata/size/*.txtar", crd.Generator{ToolVersion: "v0.23.0", MaxSize: new(720)})
}
