package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// RegistererGatherer takes metrics in and gives their values out, as a
// prometheus.Registry does.
type RegistererGatherer interface {
	prometheus.Registerer
	prometheus.Gatherer
}

// Registry holds the metrics that managers expose. To use another one, set it
// before any other package of this library is used.
var Registry RegistererGatherer = prometheus.NewRegistry()

func init() {
	Registry.MustRegister(
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewGoCollector(),
	)
	registerClientMetrics()
	registerLeaderMetrics()
}
