package apiserver

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/controlplane/reconcilers"

	"github.com/operon-dev/operon/cmd/operon/cluster/pki"
)

// Issuer is the issuer of service account tokens.
const Issuer = "https://kubernetes.default.svc.cluster.local"

// How long a stopping server waits for connections that clients keep open.
const shutdownTimeout = 100 * time.Millisecond

// Config says what the server serves, where and from which store. Listener, PKI, Etcd and Services are needed.
type Config struct {
	Listener net.Listener
	PKI      *pki.PKI
	// Etcd is the address of the store.
	Etcd string
	// Services is the network from which services get their addresses.
	Services *net.IPNet
	// DialKubelet opens the connections for kubectl logs, exec and port-forward. nil dials a node's address.
	DialKubelet utilnet.DialFunc
	// Closed are the networks in which nobody listens, besides that of the services: the server does not try to connect to an address
	// there, neither for kubectl's proxies nor for a webhook or an API that is registered with a service.
	Closed []netip.Prefix
	// NoServiceAccounts lets pods be created where no controller makes their namespace's service account.
	NoServiceAccounts bool
	// Args are flags of kube-apiserver, each as name or name=value. One that cannot be had is an *ArgError.
	Args []string
	// Seeded says that the store holds what the start-up hooks for RBAC and priority classes would create, so that
	// they need not run. They poll once a second.
	Seeded bool
}

// Server is a kube-apiserver that was built.
type Server struct {
	chain     *aggregatorapiserver.APIAggregator
	informers informers.SharedInformerFactory
	serving   chan struct{}
}

var processWide sync.Once

// New builds the server. It connects to the store, so the store has to accept requests within seconds.
func New(ctx context.Context, cfg Config) (*Server, error) {
	opts, err := newOptions(cfg)
	if err != nil {
		return nil, err
	}
	processWide.Do(func() {
		err = opts.GenericServerRunOptions.ComponentGlobalsRegistry.Set()
		// Kubernetes' own components talk to the server all the time; what the server warns them of is of no use to anybody.
		rest.SetDefaultWarningHandler(rest.NoWarnings{})
	})
	if err != nil {
		return nil, err
	}
	completed, err := opts.Complete(ctx)
	if err != nil {
		return nil, err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return nil, utilerrors.NewAggregate(errs)
	}
	config, err := newConfig(completed, cfg)
	if err != nil {
		return nil, err
	}
	documents := deferDocuments(config)
	ready, err := config.Complete()
	if err != nil {
		return nil, err
	}
	chain, err := app.CreateServerChain(ready)
	if err != nil {
		return nil, err
	}
	chain.GenericAPIServer.ShutdownTimeout = shutdownTimeout
	if err := documents.install(chain); err != nil {
		return nil, err
	}

	s := &Server{chain: chain, informers: config.KubeAPIs.ControlPlane.VersionedInformers, serving: make(chan struct{})}
	if err := chain.GenericAPIServer.AddPostStartHook("operon-serving", func(genericapiserver.PostStartHookContext) error {
		close(s.serving)
		return nil
	}); err != nil {
		return nil, err
	}
	return s, nil
}

func newOptions(cfg Config) (*options.ServerRunOptions, error) {
	addr, ok := cfg.Listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("listener %s is not TCP", cfg.Listener.Addr())
	}
	clientCA, err := dynamiccertificates.NewStaticCAContent("client-ca", cfg.PKI.CACert)
	if err != nil {
		return nil, err
	}

	o := options.NewServerRunOptions()
	o.SecureServing.Listener = cfg.Listener
	o.SecureServing.BindAddress, o.SecureServing.BindPort = addr.IP, addr.Port
	o.SecureServing.ServerCert.CertKey.CertFile = cfg.PKI.Path(pki.ServingCertFile)
	o.SecureServing.ServerCert.CertKey.KeyFile = cfg.PKI.Path(pki.ServingKeyFile)
	o.GenericServerRunOptions.AdvertiseAddress = addr.IP
	o.GenericServerRunOptions.ExternalHost = addr.IP.String()
	o.Etcd.StorageConfig.Transport.ServerList = []string{cfg.Etcd}
	o.Authentication.ClientCert.CAContentProvider = clientCA
	o.Authentication.ServiceAccounts.Issuers = []string{Issuer}
	o.Authentication.ServiceAccounts.KeyFiles = []string{cfg.PKI.Path(pki.ServiceAccountKeyFile)}
	o.ServiceAccountSigningKeyFile = cfg.PKI.Path(pki.ServiceAccountKeyFile)
	o.Authorization.Modes = []string{"Node", "RBAC"}
	o.AllowPrivileged = true
	if cfg.DialKubelet != nil {
		o.KubeletConfig.Lookup = func(egressselector.NetworkContext) (utilnet.DialFunc, error) { return cfg.DialKubelet, nil }
		// Before it dials a name, the server has to find it in DNS.
		o.KubeletConfig.PreferredAddressTypes = []string{string(corev1.NodeInternalIP)}
	}
	o.ServiceClusterIPRanges = cfg.Services.String()
	// A loopback address is not a valid endpoint.
	o.EndpointReconcilerType = string(reconcilers.NoneEndpointReconcilerType)
	if cfg.NoServiceAccounts {
		o.Admission.GenericAdmission.DisablePlugins = []string{"ServiceAccount"}
	}
	if err := applyArgs(o, cfg); err != nil {
		return nil, err
	}
	return o, nil
}

// Run serves until ctx ends, and then for as long as requests take that were already accepted.
func (s *Server) Run(ctx context.Context) error {
	prepared, err := s.chain.PrepareRun()
	if err != nil {
		return err
	}
	return prepared.Run(ctx)
}

// Serving is closed when requests are answered.
func (s *Server) Serving() <-chan struct{} { return s.serving }

// Loopback is a configuration for clients inside the process; it has every right and no rate limit.
func (s *Server) Loopback() *rest.Config {
	c := rest.CopyConfig(s.chain.GenericAPIServer.LoopbackClientConfig)
	c.QPS = -1
	return c
}
