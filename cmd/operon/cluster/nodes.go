package cluster

import (
	"context"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/cmd/operon/cluster/nodes"
)

// runNodes is what simulates the nodes of "operon cluster".
func runNodes(ctx context.Context, config *rest.Config, count int) error {
	return nodes.Run(ctx, config, nodes.Options{Count: count, Logger: klog.Background().WithName("nodes")})
}
