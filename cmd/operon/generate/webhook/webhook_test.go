package webhook_test

import (
	"testing"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/golden"
	"github.com/operon-dev/operon/cmd/operon/generate/webhook"
)

var _ generate.Generator = webhook.Generator{}

func TestConfigurations(t *testing.T) {
	golden.Test(t, "testdata/*.txtar", webhook.Generator{})
}
