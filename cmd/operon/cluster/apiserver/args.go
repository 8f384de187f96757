package apiserver

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// decided are the flags that follow from the rest of the Config, and those of parts that newConfig leaves out.
var decided = []string{
	"advertise-address", "bind-address", "secure-port", "external-hostname", "endpoint-reconciler-type",
	"cert-dir", "tls-cert-file", "tls-private-key-file",
	"service-account-issuer", "service-account-key-file", "service-account-signing-key-file", "service-cluster-ip-range",
	"etcd-servers", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "etcd-prefix",
	"egress-selector-config-file", "tracing-config-file", "version", "help",
}

// ArgError says that a flag of kube-apiserver cannot be had.
type ArgError struct {
	Arg    string
	Reason string
}

func (e *ArgError) Error() string {
	return fmt.Sprintf("kube-apiserver flag %q: %s", e.Arg, e.Reason)
}

// applyArgs reads flags over the options.
func applyArgs(o *options.ServerRunOptions, cfg Config) error {
	if len(cfg.Args) == 0 {
		return nil
	}
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range o.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	for _, arg := range cfg.Args {
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		flag := flags.Lookup(name)
		switch {
		case slices.Contains(decided, name):
			return &ArgError{arg, "operon cluster decides this itself; leave it out, or run the binary under the name kube-apiserver, which takes all flags"}
		case flag == nil:
			return &ArgError{arg, "there is no such flag; give name=value, and see the flags with the binary under the name kube-apiserver and --help"}
		case !given && flag.NoOptDefVal == "":
			return &ArgError{arg, "it needs a value: give name=value"}
		case !given:
			value = flag.NoOptDefVal
		}
		if err := flags.Set(name, value); err != nil {
			return &ArgError{arg, err.Error()}
		}
	}
	return addClientCA(o, cfg)
}

// addClientCA accepts the client certificates of another authority besides the cluster's own.
func addClientCA(o *options.ServerRunOptions, cfg Config) error {
	certs := o.Authentication.ClientCert
	if certs.ClientCA == "" {
		return nil
	}
	other, err := os.ReadFile(certs.ClientCA)
	if err != nil {
		return &ArgError{"client-ca-file", err.Error()}
	}
	both := slices.Concat(cfg.PKI.CACert, []byte("\n"), other)
	certs.CAContentProvider, err = dynamiccertificates.NewStaticCAContent("client-ca", both)
	if err != nil {
		return &ArgError{"client-ca-file", err.Error()}
	}
	return nil
}
