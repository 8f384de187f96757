// Package meter measures the handlers of webhooks.
//
// The metrics are registered in metrics.Registry with the first handler, and
// are shared by all handlers of the process; the path tells them apart.
package meter

import (
	"errors"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/operon-dev/operon/pkg/metrics"
)

// Handler returns a handler that counts and times the requests to another one,
// under the path that it is served on.
func Handler(path string, handler http.Handler) http.Handler {
	label := prometheus.Labels{"webhook": path}
	seconds := registered(metrics.Registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:                            "controller_runtime_webhook_latency_seconds",
		Help:                            "How long webhooks took to answer requests, by path of the webhook, in seconds",
		Buckets:                         prometheus.ExponentialBuckets(10e-9, 10, 12),
		NativeHistogramBucketFactor:     1.1,
		NativeHistogramMaxBucketNumber:  100,
		NativeHistogramMinResetDuration: time.Hour,
	}, []string{"webhook"})).MustCurryWith(label)
	requests := registered(metrics.Registry, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "controller_runtime_webhook_requests_total",
		Help: "Requests that webhooks answered, by path of the webhook and HTTP status code",
	}, []string{"webhook", "code"})).MustCurryWith(label)
	inFlight := registered(metrics.Registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "controller_runtime_webhook_requests_in_flight",
		Help: "Requests that webhooks are at work on, by path of the webhook",
	}, []string{"webhook"})).With(label)

	// Exposed from the start, so that a rate has a beginning.
	requests.WithLabelValues("200")
	requests.WithLabelValues("500")
	return promhttp.InstrumentHandlerDuration(seconds,
		promhttp.InstrumentHandlerCounter(requests,
			promhttp.InstrumentHandlerInFlight(inFlight, handler)))
}

// registered returns a collector that is registered: c, or the one that was
// there before. Where something else has the name, c is counted but not exposed.
func registered[C prometheus.Collector](registry prometheus.Registerer, c C) C {
	var already prometheus.AlreadyRegisteredError
	if err := registry.Register(c); errors.As(err, &already) {
		if same, ok := already.ExistingCollector.(C); ok {
			return same
		}
	}
	return c
}
