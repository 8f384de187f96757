package deploy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/operon-dev/operon/pkg/client"
)

// Connect returns a client of the cluster that kubectl would use: the file kubeconfig if it is not empty, else KUBECONFIG's files,
// else ~/.kube/config; in it the context of that name, or the current one.
//
// The cluster has answered when Connect returns. It waits for that until ctx ends.
func Connect(ctx context.Context, kubeconfig, contextName string) (client.WithWatch, error) {
	config, err := load(kubeconfig, contextName)
	if err != nil {
		return nil, err
	}
	if err := reach(ctx, config); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("cluster at %s: %w", config.Host, err)
	}
	return c, nil
}

// answerTime bounds how long a cluster may take to answer at all.
const answerTime = 15 * time.Second

// reach asks a cluster something that everyone may ask.
func reach(ctx context.Context, config *rest.Config) error {
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("cluster at %s: %w", config.Host, err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	err = discoverer.RESTClient().Get().AbsPath("/version").Do(ctx).Error()
	if status := apierrors.APIStatus(nil); err == nil || errors.As(err, &status) && !apierrors.IsUnauthorized(err) {
		return nil
	}
	if apierrors.IsUnauthorized(err) {
		return fmt.Errorf("cluster at %s does not accept the kubeconfig's credentials (%w): log in again, or choose other credentials with --context", config.Host, err)
	}
	if untrusted := (*tls.CertificateVerificationError)(nil); errors.As(err, &untrusted) {
		return fmt.Errorf("whoever answers at %s is not the cluster that the kubeconfig knows (%w): get a kubeconfig of this cluster, or choose another with --context", config.Host, untrusted.Err)
	}
	return fmt.Errorf("cluster at %s does not answer (%w): check that it runs, or choose another with --kubeconfig or --context", config.Host, err)
}

// WriteKubeconfig writes to path a kubeconfig with nothing but the cluster that Connect would talk to, readable by its owner only, and
// reports whether that cluster's API server is on this machine.
func WriteKubeconfig(path, kubeconfig, context string) (local bool, err error) {
	raw, err := configFor(kubeconfig, context).RawConfig()
	if err != nil {
		return false, fmt.Errorf("kubeconfig: %w", err)
	}
	if context != "" {
		raw.CurrentContext = context
	}
	if err := clientcmdapi.MinifyConfig(&raw); err != nil {
		return false, fmt.Errorf("kubeconfig: %w", err)
	}
	if err := clientcmdapi.FlattenConfig(&raw); err != nil {
		return false, fmt.Errorf("kubeconfig: %w", err)
	}
	for _, cluster := range raw.Clusters {
		server, err := url.Parse(cluster.Server)
		if err != nil {
			return false, fmt.Errorf("kubeconfig: %w", err)
		}
		ip := net.ParseIP(server.Hostname())
		local = server.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	}
	if err := clientcmd.WriteToFile(raw, path); err != nil {
		return false, fmt.Errorf("kubeconfig: %w", err)
	}
	return local, nil
}

// DefaultNamespace gives a namespaced object without a namespace the given one, as kubectl does.
func DefaultNamespace(mapper meta.RESTMapper, object *unstructured.Unstructured, namespace string) error {
	if object.GetNamespace() != "" {
		return nil
	}
	gvk := object.GroupVersionKind()
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return fmt.Errorf("%s: %w", describe(object), err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		object.SetNamespace(namespace)
	}
	return nil
}

// configFor reads the kubeconfig that kubectl would use. Without one it is empty, and never localhost:8080.
func configFor(kubeconfig, context string) clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: context})
}

func load(kubeconfig, context string) (*rest.Config, error) {
	config, err := configFor(kubeconfig, context).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err) && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "":
		return nil, fmt.Errorf("no cluster to talk to: %s names %s, which is not there or names no cluster; `operon cluster` starts one and prints its own",
			clientcmd.RecommendedConfigPathEnvVar, os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
	case clientcmd.IsEmptyConfig(err):
		return nil, fmt.Errorf("no cluster to talk to: set KUBECONFIG or --kubeconfig; `operon cluster` starts one and prints its own")
	case err != nil && context != "" && strings.Contains(err.Error(), "does not exist"):
		return nil, fmt.Errorf("kubeconfig: %w: `operon kubectl config get-contexts` lists those that do", err)
	case err != nil:
		return nil, fmt.Errorf("kubeconfig: %w: name one that can be read with --kubeconfig, or mend it", err)
	}
	config.QPS = -1 // the server's flow control is enough
	config.WarningHandlerWithContext = rest.NoWarnings{}
	return config, nil
}
