package client

import (
	"errors"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client/apiutil"
	"github.com/operon-dev/operon/pkg/log"
)

// Options are the settings of a Client. The zero value is a client that reads from and writes to the API server.
type Options struct {
	// HTTPClient is what requests are made with. Default: one made from the rest.Config.
	HTTPClient *http.Client

	// Scheme tells the kinds of Go types. Default: the scheme of client-go, with Kubernetes' own kinds.
	Scheme *runtime.Scheme

	// Mapper tells the resources of kinds. Default: one that asks the server about a kind when it is first used
	// (apiutil.NewDynamicRESTMapper).
	Mapper meta.RESTMapper

	// Cache says what is read from a cache. Default: everything is read from the API server.
	Cache *CacheOptions

	// DryRun makes every write a dry run. Default: false.
	DryRun *bool

	// FieldOwner is the field owner of writes that name none. Default: none, and the server makes one of the user agent.
	FieldOwner string

	// FieldValidation is the field validation of writes that name none: metav1.FieldValidationIgnore, Warn or Strict. Apply
	// is always strict. Default: none, and the server warns.
	FieldValidation string

	// Log receives the server's warnings, each once, and what goes wrong without failing a call. Default: warnings go to
	// the logger in the context of the call, or to log.Log; the rest is not logged.
	Log logr.Logger
}

// CacheOptions say what a client reads from a cache.
type CacheOptions struct {
	// Reader is the cache. If it is nil, everything is read from the API server. If it is a WriteObserver, it hears of the
	// client's writes.
	Reader Reader
	// DisableFor are objects, one for each kind, that are read from the API server all the same.
	DisableFor []Object
	// Unstructured says that unstructured objects are read from the cache too. Default: they are read from the API server.
	Unstructured bool

	// EnableReadYourWritesConsistency is accepted for compatibility and changes nothing: a client with a Reader that is a
	// WriteObserver always reads its own writes, in every form, and never waits for it.
	EnableReadYourWritesConsistency *bool
}

// NewClientFunc makes a Client. It is the type of New, for those who want to put something in its place.
type NewClientFunc func(config *rest.Config, options Options) (Client, error)

// New returns a client for the API server that config names. It makes no request.
//
// Get and List go where options.Cache says; everything else goes to the API server. When the cache's Reader is a
// WriteObserver, it is told of the writes, and reads from the cache see them at once.
//
// The server's warnings go where config.WarningHandler or config.WarningHandlerWithContext says, or else where options.Log does.
func New(config *rest.Config, options Options) (Client, error) {
	c, err := newClient(config, options)
	if err != nil {
		return nil, err
	}
	return decorate(c, options), nil
}

// NewWithWatch returns a client as New does that can also watch.
func NewWithWatch(config *rest.Config, options Options) (WithWatch, error) {
	c, err := newClient(config, options)
	if err != nil {
		return nil, err
	}
	return &watchingClient{Client: decorate(c, options), wire: &c.wire}, nil
}

func decorate(made *client, options Options) Client {
	var c Client = observedClient{made}
	if options.FieldValidation != "" {
		c = WithFieldValidation(c, FieldValidation(options.FieldValidation))
	}
	if options.FieldOwner != "" {
		c = WithFieldOwner(c, options.FieldOwner)
	}
	if options.DryRun != nil && *options.DryRun {
		c = NewDryRunClient(c)
	}
	return c
}

// client is the Client that all others wrap.
type client struct {
	wire     wire
	cache    Reader // nil if nothing is read from a cache
	observer WriteObserver
	// live are the kinds that are read from the server though there is a cache.
	live             map[schema.GroupVersionKind]bool
	liveUnstructured bool
	log              logr.Logger
}

func newClient(config *rest.Config, options Options) (*client, error) {
	if config == nil {
		return nil, errors.New("a client needs a rest.Config")
	}
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	if config.WarningHandler == nil && config.WarningHandlerWithContext == nil {
		config.WarningHandlerWithContext = log.NewKubeAPIWarningLogger(log.KubeAPIWarningLoggerOptions{})
		if options.Log.GetSink() != nil {
			config.WarningHandlerWithContext = &warnings{log: options.Log}
		}
	}
	var err error
	if options.HTTPClient == nil {
		if options.HTTPClient, err = rest.HTTPClientFor(config); err != nil {
			return nil, err
		}
	}
	if options.Scheme == nil {
		options.Scheme = clientgoscheme.Scheme
	}
	if options.Mapper == nil {
		if options.Mapper, err = apiutil.NewDynamicRESTMapper(config, options.HTTPClient); err != nil {
			return nil, err
		}
	}
	c := &client{
		wire: wire{
			config: config,
			http:   options.HTTPClient,
			scheme: options.Scheme,
			codecs: serializer.NewCodecFactory(options.Scheme),
			mapper: options.Mapper,
		},
		log: options.Log,
	}
	if options.Cache == nil || options.Cache.Reader == nil {
		return c, nil
	}
	c.cache = options.Cache.Reader
	c.observer, _ = options.Cache.Reader.(WriteObserver)
	c.liveUnstructured = !options.Cache.Unstructured
	c.live = map[schema.GroupVersionKind]bool{}
	for _, obj := range options.Cache.DisableFor {
		gvk, err := c.wire.kindOf(obj)
		if err != nil {
			return nil, err
		}
		c.live[gvk] = true
	}
	return c, nil
}

// Scheme implements Client.
func (c *client) Scheme() *runtime.Scheme { return c.wire.scheme }

// RESTMapper implements Client.
func (c *client) RESTMapper() meta.RESTMapper { return c.wire.mapper }

// GroupVersionKindFor implements Client.
func (c *client) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(obj, c.wire.scheme)
}

// IsObjectNamespaced implements Client.
func (c *client) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	return apiutil.IsObjectNamespaced(obj, c.wire.scheme, c.wire.mapper)
}
