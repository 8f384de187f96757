package config

import (
	"flag"
	"slices"
	"sync"
)

// KubeconfigFlagName is the name of the flag that says where the kubeconfig file is.
const KubeconfigFlagName = "kubeconfig"

// registered are the kubeconfig flags of all flag sets that have been given to RegisterFlags.
var registered struct {
	sync.Mutex
	values []flag.Value
}

func init() {
	RegisterFlags(flag.CommandLine)
}

// RegisterFlags adds the --kubeconfig flag to fs, or to flag.CommandLine if fs is nil. A flag of that name that fs already
// has is left as it is, and its value is used. When several flag sets have a value for it, the one registered last counts.
func RegisterFlags(fs *flag.FlagSet) {
	if fs == nil {
		fs = flag.CommandLine
	}
	f := fs.Lookup(KubeconfigFlagName)
	if f == nil {
		fs.String(KubeconfigFlagName, "", "Path of a kubeconfig file. Only needed outside of a cluster.")
		f = fs.Lookup(KubeconfigFlagName)
	}
	registered.Lock()
	defer registered.Unlock()
	if !slices.Contains(registered.values, f.Value) {
		registered.values = append(registered.values, f.Value)
	}
}

// kubeconfigFlag returns the path that the flag says, or nothing.
func kubeconfigFlag() string {
	registered.Lock()
	defer registered.Unlock()
	for _, v := range slices.Backward(registered.values) {
		if path := v.String(); path != "" {
			return path
		}
	}
	return ""
}
