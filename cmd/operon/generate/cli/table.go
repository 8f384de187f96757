package cli

import (
	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/applyconfiguration"
	"github.com/operon-dev/operon/cmd/operon/generate/conversion"
	"github.com/operon-dev/operon/cmd/operon/generate/crd"
	"github.com/operon-dev/operon/cmd/operon/generate/deepcopy"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
	"github.com/operon-dev/operon/cmd/operon/generate/rbac"
	"github.com/operon-dev/operon/cmd/operon/generate/schemapatch"
	"github.com/operon-dev/operon/cmd/operon/generate/webhook"
)

// A tool is a generator as the command line knows it. A new generator is one more line of tools.
type tool struct {
	name      string
	generator generate.Generator // with the defaults of its options
	help      marker.Help
}

// tools are all generators.
func tools() []tool {
	return []tool{
		{"applyconfiguration", applyconfiguration.Generator{}, applyconfiguration.Help()},
		{"conversion", conversion.Generator{}, conversion.Help()},
		{"crd", crd.Generator{}, crd.Help()},
		{"object", deepcopy.Generator{}, deepcopy.Help()},
		{"rbac", rbac.Generator{}, rbac.Help()},
		{"schemapatch", schemapatch.Generator{}, schemapatch.Help()},
		{"webhook", webhook.Generator{}, webhook.Help()},
	}
}
