package cluster

import (
	"context"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/recorder"
)

// Cluster is what it takes to work with one cluster. All of it may be used by
// several goroutines at once.
type Cluster interface {
	recorder.Provider

	// GetHTTPClient returns the HTTP client that everything else here uses.
	GetHTTPClient() *http.Client

	// GetConfig returns the configuration to reach the API server with: a copy of
	// what the cluster was made with. It is not to be changed.
	GetConfig() *rest.Config

	// GetCache returns the cache.
	GetCache() cache.Cache

	// GetScheme returns the scheme.
	GetScheme() *runtime.Scheme

	// GetClient returns a client that reads from the cache, unless the options
	// say otherwise, and writes to the API server.
	GetClient() client.Client

	// GetFieldIndexer returns what adds indexes to the cache.
	GetFieldIndexer() client.FieldIndexer

	// GetRESTMapper returns the REST mapper.
	GetRESTMapper() meta.RESTMapper

	// GetAPIReader returns a reader that asks the API server each time. It is
	// for what must not be cached, or be read before Start.
	GetAPIReader() client.Reader

	// Start fills the cache and keeps it up to date until ctx is done.
	Start(ctx context.Context) error
}

// Option changes Options.
type Option func(*Options)

// Options set up a Cluster.
type Options struct {
	// Scheme maps Go types to kinds. Nil means the one of client-go, with
	// Kubernetes' own types. Another one that holds an operator's own types is nearly always better.
	Scheme *runtime.Scheme

	// MapperProvider makes the REST mapper, which maps kinds to resources. Its
	// error is that of New. Nil means apiutil.NewDynamicRESTMapper.
	MapperProvider func(c *rest.Config, httpClient *http.Client) (meta.RESTMapper, error)

	// Logger is what the cluster logs to. Unset means log.Log.
	Logger logr.Logger

	// HTTPClient makes all requests. Nil means one made for the configuration.
	HTTPClient *http.Client

	// Cache sets up the cache. By default it holds what is asked for, from all
	// namespaces. What it leaves open of HTTPClient, Scheme and Mapper is filled in.
	Cache cache.Options

	// NewCache makes the cache. Nil means cache.New.
	NewCache cache.NewCacheFunc

	// Client sets up the client. What it leaves open of HTTPClient, Scheme and
	// Mapper is filled in, and so is Cache.Reader, which it reads from.
	Client client.Options

	// NewClient makes the client. Nil means client.New.
	NewClient client.NewClientFunc

	// EventBroadcaster takes the events of GetEventRecorderFor in place of one
	// made here. It is not shut down.
	//
	// Deprecated: it outlives the cluster, and its goroutines with it.
	EventBroadcaster record.EventBroadcaster
}
