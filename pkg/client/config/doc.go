// Package config finds the API server that a program is to talk to: its rest.Config, from the --kubeconfig flag, the
// KUBECONFIG environment variable, the pod the program runs in, or the user's kubeconfig, in this order.
//
// Guarantees: the first of these that is there is used. A flag or variable that names what cannot be read is an error,
// never a reason to try the next one; a pod without a service account is passed over. Client-side rate limiting is off in
// the rest.Configs returned here (QPS is -1), because the API server shares out its capacity itself; set QPS to zero or
// more to have it.
//
// Process-wide state: the flag, because flag sets are. Importing the package registers it with flag.CommandLine.
package config
