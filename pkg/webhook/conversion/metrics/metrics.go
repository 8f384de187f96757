// Package metrics holds the Prometheus metric of package conversion that is
// counted for all webhooks together. It is registered in metrics.Registry.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/operon-dev/operon/pkg/metrics"
)

// WebhookPanics counts the panics of conversion webhooks.
var WebhookPanics = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "controller_runtime_conversion_webhook_panics_total",
	Help: "Panics of conversion webhooks",
}, []string{})

func init() {
	metrics.Registry.MustRegister(WebhookPanics)
	// Exposed from the start, so that a rate has a beginning.
	WebhookPanics.WithLabelValues()
}
