package standalone

import (
	"os"
	"runtime/debug"
	"time"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	// The version that "kube-apiserver --version" shows.
	_ "github.com/operon-dev/operon/cmd/operon/kubeversion"
)

// Program returns what the program of that name does with the arguments that follow it, or nil where the name is not one of this
// package's. What it returns does not come back: it ends the process.
func Program(name string) func(args []string) {
	switch name {
	case "etcd":
		return etcd
	case "kube-apiserver":
		return apiServer
	}
	return nil
}

func etcd(args []string) {
	etcdmain.Main(append([]string{"etcd"}, args...))
	os.Exit(0)
}

func apiServer(args []string) {
	collectLateGarbage()
	command := app.NewAPIServerCommand()
	command.SetArgs(args)
	os.Exit(cli.Run(command))
}

// The server makes most of its garbage while it starts.
const (
	gcPercentStarting = 400
	startingFor       = 5 * time.Second
)

func collectLateGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(gcPercentStarting)
	time.AfterFunc(startingFor, func() { debug.SetGCPercent(usual) })
}
