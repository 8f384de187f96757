package cluster

import (
	"context"
	"fmt"
	"strings"

	"go.uber.org/zap"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/cmd/operon/cluster/nodes"
)

// Options says how a cluster is to be. The zero value is a temporary cluster without nodes.
type Options struct {
	// DataDir keeps the state across runs. Empty: a temporary directory that Stop removes.
	DataDir string
	// Kubeconfig is the file to write. Empty: the file "kubeconfig" in the data directory. A file that exists gets
	// a context named "operon" beside its own.
	Kubeconfig string
	// Port is the API server's. 0: the port that the data directory had last, if it is free, and a free port otherwise.
	Port int
	// Nodes is the number of simulated nodes that RunNodes is asked for and that Start waits for.
	Nodes int
	// RunNodes simulates nodes until its context ends; nil means that there are none. It is called as soon as the API serves, with a
	// configuration that may do anything and is not rate limited. An error it returns before its context ends fails the cluster.
	RunNodes func(ctx context.Context, config *rest.Config, nodes int) error
	// APIOnly leaves out controllers, scheduler and nodes: objects are stored, validated and served, and nobody acts on them. Pods may be
	// created without their namespace's service account, which nobody would make.
	APIOnly bool
	// APIServerArgs are flags of kube-apiserver, each as name or name=value, without leading dashes. They come after the cluster's own, which
	// decides some of them alone; Start says so.
	APIServerArgs []string
	// StoreLogger receives etcd's messages. nil drops them.
	StoreLogger *zap.Logger
	// Progress is told what Start is waiting for. It may be called from several goroutines, one at a time. nil: nobody is told.
	Progress func(step string)
}

func (o *Options) validate() error {
	for flag, path := range map[string]string{"data-dir": o.DataDir, "kubeconfig": o.Kubeconfig} {
		// Shells leave the ~ of --data-dir=~/dir as it is, and a directory of that name is not what anybody wants.
		if strings.HasPrefix(path, "~/") {
			return fmt.Errorf("%s begins with ~, which the shell did not replace: write $HOME, or --%s %s with a space and no quotes", path, flag, path)
		}
	}
	switch {
	case o.Port < 0 || o.Port > 65535:
		return fmt.Errorf("port %d is not between 1 and 65535: choose another --port, or leave it out for a free one", o.Port)
	case o.Nodes < 0:
		return fmt.Errorf("%d nodes cannot be simulated: give --nodes 0 or more", o.Nodes)
	case o.APIOnly && o.Nodes > 0:
		return fmt.Errorf("%d nodes cannot be simulated by an API alone: leave out --nodes or --api-only", o.Nodes)
	case o.Nodes > nodes.MaxCount:
		return fmt.Errorf("%d nodes cannot be simulated: give --nodes %d or fewer", o.Nodes, nodes.MaxCount)
	}
	return nil
}
