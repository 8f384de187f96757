package cluster

import (
	"context"

	"k8s.io/client-go/rest"
)

// runNodes is what simulates the nodes of "operon cluster".
var runNodes func(ctx context.Context, config *rest.Config, nodes int) error
