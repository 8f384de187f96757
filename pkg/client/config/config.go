package config

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// GetConfig returns the rest.Config to use, from the first of these that is there:
//
//   - the file that the --kubeconfig flag names
//   - the files that the KUBECONFIG environment variable names
//   - the service account of the pod that the program runs in
//   - $HOME/.kube/config
//
// A kubeconfig is used with its current context.
func GetConfig() (*rest.Config, error) {
	return GetConfigWithContext("")
}

// GetConfigWithContext is GetConfig with a context of the kubeconfig other than the current one. In a pod there are no
// contexts, and it does not matter.
func GetConfigWithContext(context string) (*rest.Config, error) {
	cfg, err := load(context)
	if err != nil {
		return nil, err
	}
	if cfg.QPS == 0 {
		cfg.QPS = -1
	}
	return cfg, nil
}

// GetConfigOrDie is GetConfig for programs that have no use for an error: it prints it to standard error and exits with
// status 1.
func GetConfigOrDie() *rest.Config {
	cfg, err := GetConfig()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return cfg
}

func load(context string) (*rest.Config, error) {
	if path := kubeconfigFlag(); path != "" {
		return fromFiles(&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, context, "--kubeconfig "+path)
	}
	if paths := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); paths != "" {
		return fromFiles(clientcmd.NewDefaultClientConfigLoadingRules(), context, clientcmd.RecommendedConfigPathEnvVar+" "+paths)
	}
	cfg, podErr := rest.InClusterConfig()
	if podErr == nil {
		return cfg, nil
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	cfg, err := fromFiles(rules, context, "kubeconfig "+rules.GetDefaultFilename())
	if err != nil && !errors.Is(podErr, rest.ErrNotInCluster) {
		return nil, errors.Join(fmt.Errorf("config from the pod: %w", podErr), err)
	}
	return cfg, err
}

func fromFiles(rules clientcmd.ClientConfigLoader, context, source string) (*rest.Config, error) {
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: context}).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("%s: nothing there, and neither --%s nor %s nor a pod says which API server to use: %w",
			source, KubeconfigFlagName, clientcmd.RecommendedConfigPathEnvVar, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return cfg, nil
}
