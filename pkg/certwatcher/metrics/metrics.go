// Package metrics holds the Prometheus metrics of package certwatcher. They
// count for all watchers of the process and are registered in metrics.Registry.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/operon-dev/operon/pkg/metrics"
)

var (
	// ReadCertificateTotal counts the times that certificate files were read.
	ReadCertificateTotal = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "certwatcher_read_certificate_total",
		Help: "How often the files of certificates were read",
	})

	// ReadCertificateErrors counts the times that this failed.
	ReadCertificateErrors = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "certwatcher_read_certificate_errors_total",
		Help: "How often reading the files of certificates failed",
	})
)

func init() {
	metrics.Registry.MustRegister(ReadCertificateTotal, ReadCertificateErrors)
}
