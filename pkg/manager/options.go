package manager

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/config"
	"github.com/operon-dev/operon/pkg/log"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"
	"github.com/operon-dev/operon/pkg/webhook"
	"github.com/operon-dev/operon/pkg/webhook/certificates"
)

const (
	defaultLeaseDuration   = 15 * time.Second
	defaultRenewDeadline   = 10 * time.Second
	defaultRetryPeriod     = 2 * time.Second
	defaultGracefulTimeout = 30 * time.Second

	defaultReadinessEndpoint = "readyz"
	defaultLivenessEndpoint  = "healthz"
)

// Options set up a Manager.
type Options struct {
	// Scheme maps Go types to kinds. Nil means the one of client-go, with
	// Kubernetes' own types. Another one that holds an operator's own types is nearly always better.
	Scheme *runtime.Scheme

	// MapperProvider makes the REST mapper, which maps kinds to resources. Nil
	// means apiutil.NewDynamicRESTMapper.
	MapperProvider func(c *rest.Config, httpClient *http.Client) (meta.RESTMapper, error)

	// Cache sets up the cache. By default it holds what is asked for, from all namespaces.
	Cache cache.Options

	// NewCache makes the cache from Cache. Nil means cache.New.
	NewCache cache.NewCacheFunc

	// Client sets up the client. By default it reads from the cache.
	Client client.Options

	// NewClient makes the client from Client. Nil means client.New.
	NewClient client.NewClientFunc

	// Logger is what the manager, and what it runs, logs to. Unset means log.Log.
	Logger logr.Logger

	// LeaderElection makes replicas agree on one of them, the leader.
	LeaderElection bool

	// LeaderElectionResourceLock is the kind of the lock. Empty means "leases",
	// and nothing else is served by Kubernetes any more.
	LeaderElectionResourceLock string

	// LeaderElectionNamespace is the namespace of the lock. Empty means that
	// of the pod the process runs in.
	LeaderElectionNamespace string

	// LeaderElectionID is the name of the lock. Leader election needs one.
	LeaderElectionID string

	// LeaderElectionConfig reaches the API server that has the lock. Nil means
	// the one the manager works with.
	LeaderElectionConfig *rest.Config

	// LeaderElectionReleaseOnCancel gives the leadership up when the manager
	// has stopped, so that the next leader need not wait for LeaseDuration: it takes over at once where it may
	// watch the lease (verb watch of leases, as in the roles that operators come with), or else at its next try. It is
	// safe only if the process exits as soon as Start returns. While a runnable of the leader outlasts
	// GracefulShutdownTimeout, the leadership is not given up, and runs out.
	LeaderElectionReleaseOnCancel bool

	// LeaderElectionLabels are put on the lock by the replica that holds it.
	LeaderElectionLabels map[string]string

	// LeaderElectionResourceLockInterface is the lock to use. The options above
	// that describe a lock are not used then.
	LeaderElectionResourceLockInterface resourcelock.Interface

	// LeaseDuration is how long the others wait, after they last saw the
	// leader renew the lock, before they take it. Nil means 15 s.
	LeaseDuration *time.Duration

	// RenewDeadline is how long the leader tries to renew the lock before it
	// gives up. It is shorter than LeaseDuration. Nil means 10 s.
	RenewDeadline *time.Duration

	// RetryPeriod is the pause between two tries. Nil means 2 s.
	RetryPeriod *time.Duration

	// Metrics set up the metrics server. By default it listens on :8080;
	// BindAddress "0" means none.
	Metrics metricsserver.Options

	// HealthProbeBindAddress is where health probes are served, as in ":8081".
	// Empty, or "0", means nowhere.
	HealthProbeBindAddress string

	// ReadinessEndpointName is the path of the readiness probe. Empty means readyz.
	ReadinessEndpointName string

	// LivenessEndpointName is the path of the liveness probe. Empty means healthz.
	LivenessEndpointName string

	// PprofBindAddress is where profiles are served, under /debug/pprof/.
	// Empty, or "0", means nowhere. Profiles tell a lot about a process: do not expose them.
	PprofBindAddress string

	// WebhookServer serves webhooks. Nil means one that webhook.NewServer makes
	// of its default options.
	WebhookServer webhook.Server

	// WebhookCertificates has the manager make and rotate the certificates of
	// its webhook server, keep them in a Secret, and tell API servers to trust them. Nil
	// means that they come from the server's CertDir, where cert-manager, for example, puts them. A GetCertificate in the
	// server's TLSOpts goes first. It needs a server that webhook.NewServer has made.
	WebhookCertificates *certificates.Options

	// BaseContext returns the context that the contexts of all runnables come
	// from. Nil means context.Background. The logger is added if it has none.
	BaseContext BaseContextFunc

	// EventBroadcaster takes the events of GetEventRecorderFor in place of one
	// made here. It is not shut down.
	//
	// Deprecated: it outlives the manager, and its goroutines with it.
	EventBroadcaster record.EventBroadcaster

	// GracefulShutdownTimeout is how long Start waits, when it stops, for the
	// runnables to end. Zero means that it does not wait, a negative value that
	// it waits for ever, and nil means 30 s.
	GracefulShutdownTimeout *time.Duration

	// Controller is what the manager's controllers fall back on.
	Controller config.Controller
}

func (o *Options) setDefaults() {
	if o.Logger.GetSink() == nil {
		o.Logger = log.Log
	}
	if o.Controller.Logger.GetSink() == nil {
		o.Controller.Logger = o.Logger
	}
	setDefault(&o.LeaseDuration, defaultLeaseDuration)
	setDefault(&o.RenewDeadline, defaultRenewDeadline)
	setDefault(&o.RetryPeriod, defaultRetryPeriod)
	setDefault(&o.GracefulShutdownTimeout, defaultGracefulTimeout)
	if o.WebhookServer == nil {
		o.WebhookServer = webhook.NewServer(webhook.Options{})
	}
	o.ReadinessEndpointName = endpoint(o.ReadinessEndpointName, defaultReadinessEndpoint)
	o.LivenessEndpointName = endpoint(o.LivenessEndpointName, defaultLivenessEndpoint)
	if o.BaseContext == nil {
		o.BaseContext = context.Background
	}
}

func setDefault(d **time.Duration, value time.Duration) {
	if *d == nil {
		*d = &value
	}
}

// endpoint returns name, or what stands for it, as a path.
func endpoint(name, otherwise string) string {
	if name == "" {
		name = otherwise
	}
	return "/" + strings.Trim(name, "/")
}
