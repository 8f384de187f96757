package election

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/operon-dev/operon/pkg/metrics"
)

// The metrics count for all elections of the process; each has its own name.
var (
	status = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "leader_election_master_status",
		Help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. " +
			"'name' is the string used to identify the lease. Please make sure to group by name.",
	}, []string{"name"})

	slowPath = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "leader_election_slowpath_total",
		Help: "Total number of slow path exercised in renewing leader leases. " +
			"'name' is the string used to identify the lease. Please make sure to group by name.",
	}, []string{"name"})
)

func init() {
	metrics.Registry.MustRegister(status, slowPath)
}
