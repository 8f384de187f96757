// Package settle ends a run of the generators as soon as the packages are initialised that rules are judged with.
//
// Package start begins a run before Kubernetes' packages are initialised, and leaves it where it comes to definitions with rules. What it takes to
// judge rules is initialised long before the API server is, and this package right after it: so most of these runs are over without the rest.
// The command imports it for that effect.
//
// Guaranteed and not guaranteed is what package start says. What is not settled here, main ends.
package settle

import (
	"os"

	"github.com/operon-dev/operon/cmd/operon/generate/accept"
	"github.com/operon-dev/operon/cmd/operon/generate/start"
)

func init() { start.Settle(accept.Rules, os.Exit) }
