package election

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/operon-dev/operon/pkg/metrics"
)

// The metrics count for all elections of the process; each has its own name.
var (
	status = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "leader_election_master_status",
		Help: "Whether this process holds the lease: 1 if it leads, 0 if it stands by. " +
			"Each lease has its own name, so group by name.",
	}, []string{"name"})

	slowPath = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "leader_election_slowpath_total",
		Help: "How often a lease was renewed by the slow path. " +
			"Each lease has its own name, so group by name.",
	}, []string{"name"})
)

func init() {
	metrics.Registry.MustRegister(status, slowPath)
}
