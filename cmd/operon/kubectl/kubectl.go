package kubectl

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	// Authentication plugins of kubeconfigs.
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	// The version that "kubectl version" shows.
	_ "github.com/operon-dev/operon/cmd/operon/kubeversion"
)

// Run runs kubectl with the arguments that follow its name, and ends the process with kubectl's exit code where it fails.
func Run(args []string) {
	// kubectl finds its arguments, and the names of its plugins, in os.Args.
	os.Args = append([]string{"kubectl"}, args...)
	logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
