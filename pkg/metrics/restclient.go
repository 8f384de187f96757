package metrics

import (
	"context"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientmetrics "k8s.io/client-go/tools/metrics"
)

// RESTClientMetric names a metric of client-go's requests that is off unless asked for.
type RESTClientMetric int

const (
	// MetricRequestLatency is rest_client_request_duration_seconds, by verb and host.
	MetricRequestLatency = iota + 1
	// MetricDNSResolutionLatency is rest_client_dns_resolution_duration_seconds, by host.
	MetricDNSResolutionLatency
	// MetricRequestSize is rest_client_request_size_bytes, by verb and host.
	MetricRequestSize
	// MetricResponseSize is rest_client_response_size_bytes, by verb and host.
	MetricResponseSize
	// MetricRateLimiterLatency is rest_client_rate_limiter_duration_seconds, by verb and host.
	MetricRateLimiterLatency
	// MetricRequestRetry is rest_client_request_retries_total, by code, verb and host.
	MetricRequestRetry
)

// RESTClientMetricsOptions change the metrics that are enabled with them.
type RESTClientMetricsOptions struct {
	// DurationBuckets are the upper bounds, in seconds, of the buckets of the
	// three duration metrics. Empty means those of Kubernetes' own components,
	// from 5 ms on. What a metric was first enabled with stays.
	DurationBuckets []float64
}

// RegisterRESTClientMetrics enables metrics of client-go's requests. Enabling
// one again does nothing.
func RegisterRESTClientMetrics(metrics ...RESTClientMetric) {
	RegisterRESTClientMetricsWithOptions(RESTClientMetricsOptions{}, metrics...)
}

// RegisterRESTClientMetricsWithOptions enables metrics of client-go's requests
// with options. Enabling one again does nothing. Numbers that name no metric
// are passed over. It may be called at any time, by any goroutine.
func RegisterRESTClientMetricsWithOptions(opts RESTClientMetricsOptions, metrics ...RESTClientMetric) {
	for _, metric := range metrics {
		switch metric {
		case MetricRequestLatency:
			requestLatency.enable(opts.DurationBuckets)
		case MetricDNSResolutionLatency:
			resolverLatency.enable(opts.DurationBuckets)
		case MetricRequestSize:
			requestSize.enable(nil)
		case MetricResponseSize:
			responseSize.enable(nil)
		case MetricRateLimiterLatency:
			rateLimiterLatency.enable(opts.DurationBuckets)
		case MetricRequestRetry:
			requestRetry.enable()
		}
	}
}

// Bucket bounds as Kubernetes' own components have them.
var (
	durations   = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}
	resolutions = durations[:len(durations)-1]
	sizes       = []float64{64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216}
)

var (
	requestLatency = &optionalHistogram{
		name: "rest_client_request_duration_seconds", help: "How long requests took, by verb and host, in seconds",
		buckets: durations, labels: []string{"verb", "host"},
	}
	resolverLatency = &optionalHistogram{
		name: "rest_client_dns_resolution_duration_seconds", help: "How long looking up a host in the DNS took, by host, in seconds",
		buckets: resolutions, labels: []string{"host"},
	}
	requestSize = &optionalHistogram{
		name: "rest_client_request_size_bytes", help: "Size of requests, by verb and host, in bytes",
		buckets: sizes, labels: []string{"verb", "host"},
	}
	responseSize = &optionalHistogram{
		name: "rest_client_response_size_bytes", help: "Size of responses, by verb and host, in bytes",
		buckets: sizes, labels: []string{"verb", "host"},
	}
	rateLimiterLatency = &optionalHistogram{
		name: "rest_client_rate_limiter_duration_seconds", help: "How long the client's rate limiter held requests back, by verb and host, in seconds",
		buckets: durations, labels: []string{"verb", "host"},
	}
	requestRetry = &retries{}
)

// registerClientMetrics gives client-go all metrics at once, because it takes
// them only once. Those not enabled count nothing.
func registerClientMetrics() {
	results := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rest_client_requests_total",
		Help: "HTTP requests by status code, method and host",
	}, []string{"code", "method", "host"})
	Registry.MustRegister(results)
	clientmetrics.Register(clientmetrics.RegisterOpts{
		RequestResult:      requestResults{results},
		RequestLatency:     byURL{requestLatency},
		RateLimiterLatency: byURL{rateLimiterLatency},
		ResolverLatency:    byHost{resolverLatency},
		RequestSize:        bySize{requestSize},
		ResponseSize:       bySize{responseSize},
		RequestRetry:       requestRetry,
	})
}

type requestResults struct{ *prometheus.CounterVec }

func (r requestResults) Increment(_ context.Context, code, method, host string) {
	r.WithLabelValues(code, method, host).Inc()
}

// optionalHistogram is registered when it is enabled.
type optionalHistogram struct {
	name, help string
	buckets    []float64
	labels     []string

	once    sync.Once
	enabled atomic.Pointer[prometheus.HistogramVec]
}

func (h *optionalHistogram) enable(buckets []float64) {
	h.once.Do(func() {
		if len(buckets) == 0 {
			buckets = h.buckets
		}
		vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:                            h.name,
			Help:                            h.help,
			Buckets:                         buckets,
			NativeHistogramBucketFactor:     1.1,
			NativeHistogramMaxBucketNumber:  100,
			NativeHistogramMinResetDuration: time.Hour,
		}, h.labels)
		Registry.MustRegister(vec)
		h.enabled.Store(vec)
	})
}

func (h *optionalHistogram) observe(value float64, labels ...string) {
	if vec := h.enabled.Load(); vec != nil {
		vec.WithLabelValues(labels...).Observe(value)
	}
}

type byURL struct{ *optionalHistogram }

func (m byURL) Observe(_ context.Context, verb string, u url.URL, latency time.Duration) {
	m.observe(latency.Seconds(), verb, u.Host)
}

type byHost struct{ *optionalHistogram }

func (m byHost) Observe(_ context.Context, host string, latency time.Duration) {
	m.observe(latency.Seconds(), host)
}

type bySize struct{ *optionalHistogram }

func (m bySize) Observe(_ context.Context, verb, host string, size float64) {
	m.observe(size, verb, host)
}

// retries is registered when it is enabled.
type retries struct {
	once    sync.Once
	enabled atomic.Pointer[prometheus.CounterVec]
}

func (r *retries) enable() {
	r.once.Do(func() {
		vec := prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rest_client_request_retries_total",
			Help: "Requests tried again, by status code, verb and host",
		}, []string{"code", "verb", "host"})
		Registry.MustRegister(vec)
		r.enabled.Store(vec)
	})
}

// IncrementRetry implements the metric of client-go.
func (r *retries) IncrementRetry(_ context.Context, code, method, host string) {
	if vec := r.enabled.Load(); vec != nil {
		vec.WithLabelValues(code, method, host).Inc()
	}
}
