package kubectl

import (
	"io"
	"os"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/plugin"
	"k8s.io/kubectl/pkg/cmd/util"

	// Authentication plugins of kubeconfigs.
	_ "k8s.io/client-go/plugin/pkg/client/auth"

	// The version that "kubectl version" shows.
	_ "github.com/operon-dev/operon/cmd/operon/kubeversion"
)

// Run runs kubectl with the arguments that follow its name, and ends the process with kubectl's exit code where it fails. What it has to say
// goes to out: a terminal has to be given as the *os.File that it is.
func Run(args []string, out io.Writer) {
	// kubectl finds its arguments, and the names of its plugins, in os.Args.
	os.Args = append([]string{"kubectl"}, args...)
	logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	command := cmd.NewDefaultKubectlCommandWithArgs(cmd.KubectlOptions{
		PluginHandler: cmd.NewDefaultPluginHandler(plugin.ValidPluginFilenamePrefixes),
		Arguments:     os.Args,
		IOStreams:     genericiooptions.IOStreams{In: os.Stdin, Out: out, ErrOut: os.Stderr},
	})
	command.SetOut(out) // for help
	if err := cli.RunNoErrOutput(command); err != nil {
		util.CheckErr(err)
	}
}
