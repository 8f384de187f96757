// Package metrics holds the Prometheus metric of package admission that is
// counted for all webhooks together. It is registered in metrics.Registry.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/operon-dev/operon/pkg/metrics"
)

// WebhookPanics counts the panics of admission webhooks, recovered or not.
var WebhookPanics = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "controller_runtime_webhook_panics_total",
	Help: "Panics of admission webhooks, recovered or not",
}, []string{})

func init() {
	metrics.Registry.MustRegister(WebhookPanics)
	// Exposed from the start, so that a rate has a beginning.
	WebhookPanics.WithLabelValues()
}
