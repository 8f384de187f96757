package apiserver

import (
	"slices"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/features"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/filters"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"
	"k8s.io/kubernetes/pkg/kubeapiserver"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
)

// newConfig is app.NewConfig with one difference: the loopback certificate is P-256. Making the RSA keys that Kubernetes would make
// takes up to half of a cluster's start.
func newConfig(opts options.CompletedOptions, cfg Config) (*app.Config, error) {
	generic, shared, storage, err := genericConfig(opts)
	if err != nil {
		return nil, err
	}
	if cfg.Seeded {
		generic.DisabledPostStartHooks.Insert(rbacrest.PostStartHookName, schedulingrest.PostStartHookName)
	}
	kubeAPIs, resolver, initializers, err := app.CreateKubeAPIServerConfig(opts, generic, shared, storage)
	if err != nil {
		return nil, err
	}
	control := kubeAPIs.ControlPlane
	closeNetworks(control.ProxyTransport, append(slices.Clone(cfg.Closed), prefixOf(cfg.Services)))
	authentication := webhook.NewDefaultAuthenticationInfoResolverWrapper(control.ProxyTransport, control.Generic.EgressSelector,
		control.Generic.LoopbackClientConfig, control.Generic.TracerProvider)
	apiExtensions, err := controlplaneapiserver.CreateAPIExtensionsConfig(*control.Generic, control.VersionedInformers, initializers,
		opts.CompletedOptions, opts.MasterCount, resolver, authentication)
	if err != nil {
		return nil, err
	}
	aggregator, err := controlplaneapiserver.CreateAggregatorConfig(*control.Generic, opts.CompletedOptions, control.VersionedInformers,
		resolver, control.ProxyTransport, control.Extra.PeerProxy, initializers)
	if err != nil {
		return nil, err
	}
	return &app.Config{Options: opts, KubeAPIs: kubeAPIs, ApiExtensions: apiExtensions, Aggregator: aggregator}, nil
}

// genericConfig applies the options in the order in which they depend on each other, as kube-apiserver does. Options that are never set here
// (tracing, egress, flags pages) are left out.
func genericConfig(opts options.CompletedOptions) (*genericapiserver.Config, informers.SharedInformerFactory, *serverstorage.DefaultStorageFactory, error) {
	codecs := legacyscheme.Codecs
	if utilfeature.DefaultFeatureGate.Enabled(features.CBORServingAndStorage) {
		codecs = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))
	}
	c := genericapiserver.NewConfig(codecs)
	resources := controlplane.DefaultAPIResourceConfigSource()
	c.MergedResourceConfig = resources
	if err := opts.GenericServerRunOptions.ApplyTo(c); err != nil {
		return nil, nil, nil, err
	}
	if err := opts.SecureServing.SecureServingOptions.ApplyTo(&c.SecureServing); err != nil {
		return nil, nil, nil, err
	}
	if err := addLoopback(c); err != nil {
		return nil, nil, nil, err
	}
	client, err := kubernetes.NewForConfig(c.LoopbackClientConfig)
	if err != nil {
		return nil, nil, nil, err
	}
	shared := informers.NewSharedInformerFactoryWithOptions(client, informerResync,
		informers.WithTransform(dropManagedFields), informers.WithInformerName(opts.InformerName))
	if err := opts.Features.ApplyTo(c, client, shared); err != nil {
		return nil, nil, nil, err
	}
	if err := opts.APIEnablement.ApplyTo(c, resources, legacyscheme.Scheme); err != nil {
		return nil, nil, nil, err
	}

	definitions := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(generatedopenapi.GetOpenAPIDefinitions)
	namer := openapinamer.NewDefinitionNamer([]*runtime.Scheme{legacyscheme.Scheme, apiextensionsapiserver.Scheme, aggregatorscheme.Scheme}...)
	c.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	c.OpenAPIConfig.Info.Title = "Kubernetes"
	c.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	c.OpenAPIV3Config.Info.Title = "Kubernetes"
	c.LongRunningFunc = filters.BasicLongRunningRequestCheck(
		sets.NewString("watch", "proxy"),
		sets.NewString("attach", "exec", "proxy", "log", "portforward"),
	)

	opts.Etcd.StorageConfig.Transport.TracerProvider = c.TracerProvider
	storageConfig := kubeapiserver.NewStorageFactoryConfigEffectiveVersion(c.EffectiveVersion)
	storageConfig.APIResourceConfig = c.MergedResourceConfig
	storageConfig.DefaultResourceEncoding.SetEffectiveVersion(c.EffectiveVersion)
	storage, err := storageConfig.Complete(opts.Etcd).New()
	if err != nil {
		return nil, nil, nil, err
	}
	storage.StorageConfig.StorageObjectCountTracker = c.StorageObjectCountTracker
	if err := opts.Etcd.ApplyWithStorageFactoryTo(storage, c); err != nil {
		return nil, nil, nil, err
	}

	drained := wait.ContextForChannel(c.DrainedNotify())
	if err := opts.Authentication.ApplyTo(drained, &c.Authentication, c.SecureServing, c.EgressSelector, c.OpenAPIConfig, c.OpenAPIV3Config,
		client, shared, c.APIServerID); err != nil {
		return nil, nil, nil, err
	}
	c.Authorization.Authorizer, c.RuleResolver, _, err = controlplaneapiserver.BuildAuthorizer(drained, opts.CompletedOptions, c.EgressSelector, c.APIServerID, shared)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := opts.Audit.ApplyTo(c); err != nil {
		return nil, nil, nil, err
	}
	c.AggregatedDiscoveryGroupManager = aggregated.NewResourceManager("apis")
	return c, shared, storage, nil
}

func dropManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil && accessor.GetManagedFields() != nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}
