package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/recorder"
)

// New makes a cluster. It does not wait for the API server; config is copied.
func New(config *rest.Config, opts ...Option) (Cluster, error) {
	if config == nil {
		return nil, errors.New("the config is nil: a cluster needs to know its API server")
	}
	var options Options
	for _, opt := range opts {
		opt(&options)
	}
	given := rest.CopyConfig(config)
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	if err := options.setDefaults(config); err != nil {
		return nil, err
	}
	mapper, err := options.MapperProvider(config, options.HTTPClient)
	if err != nil {
		return nil, err
	}

	objects, err := options.NewCache(config, options.cacheOptions(mapper))
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	direct := options.clientOptions(mapper)
	both, err := options.NewClient(config, readingFrom(objects, direct))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	direct.Cache = nil
	reader, err := client.New(config, direct)
	if err != nil {
		return nil, fmt.Errorf("API reader: %w", err)
	}
	events, err := recorder.NewProvider(config, recorder.Options{
		HTTPClient:  options.HTTPClient,
		Scheme:      options.Scheme,
		Logger:      options.Logger.WithName("events"),
		Broadcaster: options.EventBroadcaster,
	})
	if err != nil {
		return nil, fmt.Errorf("event recorder: %w", err)
	}
	return &cluster{
		APIProvider: events,
		config:      given,
		httpClient:  options.HTTPClient,
		scheme:      options.Scheme,
		mapper:      mapper,
		cache:       objects,
		client:      both,
		apiReader:   reader,
	}, nil
}

func (o *Options) setDefaults(config *rest.Config) error {
	if o.Logger.GetSink() == nil {
		o.Logger = log.Log.WithName("cluster")
	}
	if o.Scheme == nil {
		o.Scheme = scheme.Scheme
	}
	if o.HTTPClient == nil {
		made, err := rest.HTTPClientFor(config)
		if err != nil {
			return fmt.Errorf("HTTP client: %w", err)
		}
		o.HTTPClient = made
	}
	if o.MapperProvider == nil {
		o.MapperProvider = func(config *rest.Config, httpClient *http.Client) (meta.RESTMapper, error) {
			mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
			if err != nil {
				return nil, fmt.Errorf("REST mapper: %w", err)
			}
			return mapper, nil
		}
	}
	if o.NewCache == nil {
		o.NewCache = cache.New
	}
	if o.NewClient == nil {
		o.NewClient = client.New
	}
	return nil
}

// cacheOptions are the options of the cache, with what they leave open.
func (o *Options) cacheOptions(mapper meta.RESTMapper) cache.Options {
	made := o.Cache
	made.HTTPClient = cmp.Or(made.HTTPClient, o.HTTPClient)
	made.Scheme = cmp.Or(made.Scheme, o.Scheme)
	made.Mapper = cmp.Or(made.Mapper, mapper)
	return made
}

// clientOptions are the options of clients, with what they leave open but the cache.
func (o *Options) clientOptions(mapper meta.RESTMapper) client.Options {
	made := o.Client
	made.HTTPClient = cmp.Or(made.HTTPClient, o.HTTPClient)
	made.Scheme = cmp.Or(made.Scheme, o.Scheme)
	made.Mapper = cmp.Or(made.Mapper, mapper)
	return made
}

// readingFrom are options for a client that reads from objects, unless they name a reader of their own.
func readingFrom(objects client.Reader, options client.Options) client.Options {
	var from client.CacheOptions
	if options.Cache != nil {
		from = *options.Cache
	}
	if from.Reader == nil {
		from.Reader = objects
	}
	options.Cache = &from
	return options
}

type cluster struct {
	*recorder.APIProvider

	config     *rest.Config
	httpClient *http.Client
	scheme     *runtime.Scheme
	mapper     meta.RESTMapper
	cache      cache.Cache
	client     client.Client
	apiReader  client.Reader
}

var _ Cluster = (*cluster)(nil)

func (c *cluster) GetHTTPClient() *http.Client          { return c.httpClient }
func (c *cluster) GetConfig() *rest.Config              { return c.config }
func (c *cluster) GetCache() cache.Cache                { return c.cache }
func (c *cluster) GetScheme() *runtime.Scheme           { return c.scheme }
func (c *cluster) GetClient() client.Client             { return c.client }
func (c *cluster) GetFieldIndexer() client.FieldIndexer { return c.cache }
func (c *cluster) GetRESTMapper() meta.RESTMapper       { return c.mapper }
func (c *cluster) GetAPIReader() client.Reader          { return c.apiReader }

// Start implements Cluster.
func (c *cluster) Start(ctx context.Context) error {
	// Whatever the cache tells may be recorded, so the recorders go last.
	recording, stopRecording := context.WithCancel(context.WithoutCancel(ctx))
	var recorders sync.WaitGroup
	recorders.Go(func() { _ = c.APIProvider.Start(recording) })
	defer recorders.Wait()
	defer stopRecording()
	return c.cache.Start(ctx)
}
