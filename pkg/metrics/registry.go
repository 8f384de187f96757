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

// Registry holds the metrics that managers expose. A program may put another
// one in its place before it makes a manager; what was registered until then,
// by the initialisation of packages, stays in the old one.
var Registry RegistererGatherer = prometheus.NewRegistry()

func init() {
	Registry.MustRegister(
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewGoCollector(),
	)
	registerClientMetrics()
}
